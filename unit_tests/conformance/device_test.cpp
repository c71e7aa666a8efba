// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <unit_tests/conformance/device_fixture.hpp>

#include <gmock/gmock.h>

#include <atomic>
#include <cstring>
#include <set>

namespace gantry::test {
namespace {

class DeviceTest : public DeviceFixture {};
GANTRY_CONFORMANCE(DeviceTest);

TEST_P(DeviceTest, HasThreadSlots) {
  EXPECT_GE(device().concurrency(), 1);
  EXPECT_TRUE(device().poison().ok());
}

TEST_P(DeviceTest, AllocatesAlignedMemoryOfAnySize) {
  std::set<void*> addresses;
  for (const std::size_t bytes : {0, 1, 100, 4096, 5000, 1 << 20, 5 << 20}) {
    for (const MemoryKind kind : {MemoryKind::device, MemoryKind::pinned}) {
      auto memory = device().allocate(kind, bytes);
      ASSERT_TRUE(memory.ok()) << memory.status().message();
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(*memory) % 128, 0U);
      addresses.insert(*memory);
      if (kind == MemoryKind::pinned) std::memset(*memory, 1, bytes);
      EXPECT_OK(device().free(kind, *memory, bytes));
    }
  }
  EXPECT_FALSE(addresses.contains(nullptr));
}

TEST_P(DeviceTest, RefusesWhatCannotFitAndWorksOn) {
  for (const std::size_t bytes : {(std::size_t{1} << 46) * sizeof(double), ~std::size_t{0} - 8}) {
    const auto memory = device().allocate(MemoryKind::device, bytes);
    ASSERT_FALSE(memory.ok());
    EXPECT_EQ(memory.status().code(), Code::out_of_memory);
    EXPECT_THAT(memory.status().text(), testing::HasSubstr("free"));
  }
  auto memory = device().allocate(MemoryKind::device, 1 << 20);
  ASSERT_TRUE(memory.ok());
  EXPECT_OK(device().free(MemoryKind::device, *memory, 1 << 20));
}

TEST_P(DeviceTest, KnowsItsMemory) {
  const MemoryInfo info = device().memory_info();
  EXPECT_GT(info.total_bytes, 0U);
  EXPECT_LE(info.free_bytes, info.total_bytes);
}

TEST_P(DeviceTest, DrainWaitsForEveryQueue) {
  std::atomic<int> ran{0};
  for (int q = 0; q < 10; ++q) {
    Queue& queue = make_queue();
    for (int i = 0; i < 10; ++i) EXPECT_OK(for_each(queue, 8, [&](auto) { ++ran; }));
  }
  EXPECT_OK(device().drain(std::chrono::seconds(60)));
  EXPECT_EQ(ran, 800);
}

TEST_P(DeviceTest, DrainGivesUpInTime) {
  SKIP_IF_BLOCKING();
  Queue& queue = make_queue();
  Gate gate;
  gate.close(queue);
  EXPECT_EQ(device().drain(std::chrono::milliseconds(1)).code(), Code::timeout);
  gate.open();
  EXPECT_OK(device().drain(std::chrono::seconds(60)));
}

TEST_P(DeviceTest, TakesManyQueuesAtOnce) {
  std::vector<Queue*> queues;
  std::vector<std::atomic<int>> ran(100);
  for (int q = 0; q < 100; ++q) queues.push_back(&make_queue());
  for (int round = 0; round < 10; ++round) {
    for (int q = 0; q < 100; ++q) {
      auto& count = ran[static_cast<std::size_t>(q)];
      EXPECT_OK(for_each(*queues[static_cast<std::size_t>(q)], 3, [&count](auto) { ++count; }));
    }
  }
  for (Queue* queue : queues) EXPECT_OK(queue->sync());
  for (const auto& count : ran) EXPECT_EQ(count, 30);
}

TEST_P(DeviceTest, ReleasesQueuesWhileItIsOpen) {
  for (int i = 0; i < 1000; ++i) {
    Queue& queue = make_queue();
    std::atomic<int> ran{0};
    EXPECT_OK(for_each(queue, 3, [&](auto) { ++ran; }));
    EXPECT_OK(queue.sync());
    EXPECT_EQ(ran, 3);
    close_queue(queue);
  }
}

}  // namespace
}  // namespace gantry::test
