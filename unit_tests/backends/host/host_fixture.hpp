// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <backends/host/device.hpp>
#include <gantry/base/settings.hpp>
#include <gantry/core/queue.hpp>
#include <unit_tests/support/expect_ok.hpp>
#include <unit_tests/support/host_options.hpp>
#include <unit_tests/support/kernels.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace gantry::test {

/// An open host device with queues; everything is closed, and must close, at the end.
class OpenHost {
 public:
  explicit OpenHost(host::EngineOptions options, Protect protect = settings()->protect) {
    auto opened = host::HostDevice::open(std::move(options), protect, 1, test_server());
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    m_device = *std::move(opened);
  }
  explicit OpenHost(int slots) : OpenHost(host_options(slots)) {}
  ~OpenHost() {
    if (m_device == nullptr) return;
    EXPECT_OK(m_device->drain(std::chrono::seconds(60)));
    close();
  }
  void close() {
    for (auto& queue : m_queues) EXPECT_OK(queue->close());
    m_queues.clear();
    EXPECT_OK(m_device->close());
    m_device.reset();
  }
  Device& operator*() { return *m_device; }
  Device* operator->() { return m_device.get(); }
  Queue& queue() {
    QueueOptions options;
    options.id = static_cast<std::uint32_t>(m_queues.size()) + 1;
    options.device_name = "host";
    auto made = m_device->create_queue(options);
    EXPECT_TRUE(made.ok());
    m_queues.push_back(*std::move(made));
    return *m_queues.back();
  }

 private:
  std::unique_ptr<Device> m_device;
  std::vector<std::unique_ptr<Queue>> m_queues;
};

/// A launch over so many items.
inline Launch items(std::int64_t count, bool heavy = false) {
  Launch launch;
  launch.count = count;
  launch.heavy = heavy;
  return launch;
}

/// Waits for a condition that only other threads can bring about; there is nothing to sleep on.
template <class Condition>
void await(const Condition& condition) {
  while (!condition()) std::this_thread::yield();
}

/// With pages every launch waits for its kernel, so nothing is asynchronous.
#define SKIP_IF_PAGES() \
  if (settings()->protect == Protect::pages) GTEST_SKIP() << "launches block while memory is protected by pages"

}  // namespace gantry::test
