// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/core/device.hpp>
#include <gantry/core/event.hpp>
#include <gantry/core/queue.hpp>
#include <unit_tests/support/expect_ok.hpp>
#include <unit_tests/support/kernels.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <latch>
#include <memory>
#include <string>
#include <ostream>
#include <utility>
#include <vector>

namespace gantry::test {

/// One kind of device that the suite runs over.
struct Variant {
  std::string name;
  std::function<Result<std::unique_ptr<Device>>(int ordinal)> open;
  bool blocking = false;   ///< every call waits for its work, so a queue cannot be held back
  bool runs_joins = true;  ///< runs all of a kernel: phases, scratch, joins, results
};
const std::vector<Variant>& variants();
inline void PrintTo(const Variant& variant, std::ostream* out) {
  *out << variant.name;
}

/// Holds a queue back: a host function that waits until the gate opens.
class Gate {
 public:
  ~Gate() { open(); }
  void close(Queue& queue) {
    EXPECT_OK(queue.host_function([](void* latch) { static_cast<std::latch*>(latch)->wait(); }, &m_latch));
  }
  void open() {
    if (!std::exchange(m_opened, true)) m_latch.count_down();
  }

 private:
  std::latch m_latch{1};
  bool m_opened = false;
};

/// Two open devices of a variant, which are closed (and must close) after the test.
class DeviceFixture : public testing::TestWithParam<Variant> {
 protected:
  void SetUp() override {
    for (int i = 0; i < 2; ++i) {
      auto opened = GetParam().open(i);
      ASSERT_TRUE(opened.ok()) << opened.status().message();
      m_devices[i] = *std::move(opened);
    }
  }
  void TearDown() override {
    for (auto& device : m_devices) {
      if (device == nullptr) continue;
      if (m_drains) EXPECT_OK(device->drain(std::chrono::seconds(60)));
      for (auto& [owner, memory, bytes] : m_memory) {
        if (owner == device.get()) EXPECT_OK(owner->free(MemoryKind::device, memory, bytes));
      }
    }
    for (auto& event : m_events) EXPECT_OK(event->close());
    for (auto& queue : m_queues) EXPECT_OK(queue->close());
    for (auto& device : m_devices) {
      if (device != nullptr) EXPECT_OK(device->close());
    }
  }

  Device& device(int i = 0) { return *m_devices[i]; }

  Queue& make_queue(int of_device = 0) {
    QueueOptions options;
    options.id = ++m_last_id;
    options.label = "conformance";
    options.device_name = "device:" + std::to_string(of_device);
    auto made = device(of_device).create_queue(options);
    EXPECT_TRUE(made.ok());
    m_queues.push_back(*std::move(made));
    return *m_queues.back();
  }
  Event& make_event(int of_device = 0) {
    auto made = device(of_device).create_event();
    EXPECT_TRUE(made.ok());
    m_events.push_back(*std::move(made));
    return *m_events.back();
  }
  void close_event(Event& event) {
    std::erase_if(m_events, [&](auto& owned) {
      if (owned.get() != &event) return false;
      EXPECT_OK(owned->close());
      return true;
    });
  }
  void close_queue(Queue& queue) {
    std::erase_if(m_queues, [&](auto& owned) {
      if (owned.get() != &queue) return false;
      EXPECT_OK(owned->close());
      return true;
    });
  }
  /// Device memory, freed after the test.
  template <class T>
  T* allocate(std::size_t count, int of_device = 0) {
    const std::size_t bytes = count * sizeof(T);
    auto memory = device(of_device).allocate(MemoryKind::device, bytes);
    if (!memory.ok()) {
      ADD_FAILURE() << memory.status().message();
      return nullptr;
    }
    m_memory.push_back({&device(of_device), *memory, bytes});
    return static_cast<T*>(*memory);
  }
  /// What device memory holds once the queue has got there.
  template <class T>
  std::vector<T> read(Queue& queue, const T* from, std::size_t count) {
    std::vector<T> values(count);
    EXPECT_OK(queue.copy(values.data(), from, count * sizeof(T)));
    EXPECT_OK(queue.sync());
    return values;
  }

  bool m_drains = true;

 private:
  struct Owned {
    Device* owner;
    void* memory;
    std::size_t bytes;
  };
  std::unique_ptr<Device> m_devices[2];
  std::vector<std::unique_ptr<Queue>> m_queues;
  std::vector<std::unique_ptr<Event>> m_events;
  std::vector<Owned> m_memory;
  std::uint32_t m_last_id = 0;
};

/// Runs a suite over every variant.
#define GANTRY_CONFORMANCE(suite)                                  \
  INSTANTIATE_TEST_SUITE_P(, suite, testing::ValuesIn(variants()), \
                           [](const testing::TestParamInfo<Variant>& info) { return info.param.name; })

#define SKIP_IF_BLOCKING() \
  if (GetParam().blocking) GTEST_SKIP() << "a queue whose calls wait for their work cannot be held back"

#define SKIP_UNLESS_IT_JOINS() \
  if (!GetParam().runs_joins) GTEST_SKIP() << "this device runs shares only, without scratch and joins"

}  // namespace gantry::test
