// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <backends/host/memory.hpp>

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>

namespace gantry::host {
namespace {

TEST(MemoryTest, EveryDeviceHasItsOwnBudget) {
  constexpr int devices = 64;
  Memory first("host:0", devices, nullptr);
  Memory second("host:1", devices, nullptr);
  const std::uint64_t budget = first.info().total_bytes;
  ASSERT_LE(budget, process_memory().total_bytes / devices);
  const std::size_t most = std::max<std::size_t>(budget / 4 * 3, 8 << 20);
  auto memory = first.allocate(MemoryKind::device, most);
  ASSERT_TRUE(memory.ok()) << memory.status().message();
  EXPECT_LE(first.info().free_bytes, budget - most);
  const auto refused = first.allocate(MemoryKind::device, most);
  EXPECT_EQ(refused.status().code(), Code::out_of_memory);
  auto other = second.allocate(MemoryKind::device, most);
  EXPECT_TRUE(other.ok()) << other.status().message();
  EXPECT_TRUE(first.free(MemoryKind::device, *memory, most).ok());
  EXPECT_TRUE(second.free(MemoryKind::device, *other, most).ok());
  auto again = first.allocate(MemoryKind::device, most);
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(first.free(MemoryKind::device, *again, most).ok());
}

TEST(MemoryTest, LargeMemoryStartsAtAHugePage) {
  Memory memory("host", 1, nullptr);
  constexpr std::size_t bytes = (std::size_t{5} << 20) + 1;
  auto made = memory.allocate(MemoryKind::device, bytes);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(*made) % (std::size_t{2} << 20), 0U);
  std::memset(*made, 1, bytes);
  EXPECT_TRUE(memory.free(MemoryKind::device, *made, bytes).ok());
}

TEST(MemoryTest, AddressSpaceLimitCounts) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers map terabytes of shadow memory";
#endif
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  std::uint64_t pages_in_use = 0;
  std::ifstream("/proc/self/statm") >> pages_in_use;
  constexpr std::uint64_t room = std::uint64_t{1} << 30;
  constexpr std::uint64_t given_back = 1 << 20;  // by the process, after it has looked
  rlimit limited = before;
  limited.rlim_cur = pages_in_use * static_cast<std::uint64_t>(getpagesize()) + room;
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limited), 0);
  const MemoryInfo info = process_memory();
  setrlimit(RLIMIT_AS, &before);
  EXPECT_LE(info.total_bytes, limited.rlim_cur);
  EXPECT_LE(info.free_bytes, room + given_back);
  EXPECT_GT(info.total_bytes, 0U);
}

TEST(MemoryTest, CountsWhatCouldNotBeGivenBack) {
  constexpr int devices = 64;
  constexpr std::size_t bytes = 8 << 20;
  Memory memory("host", devices, nullptr);
  auto made = memory.allocate(MemoryKind::device, bytes);
  ASSERT_TRUE(made.ok()) << made.status().message();
  const std::uint64_t most = memory.info().total_bytes - bytes;
  EXPECT_LE(memory.info().free_bytes, most);
  EXPECT_EQ(memory.free(MemoryKind::device, static_cast<char*>(*made) + 1, bytes).code(), Code::driver_error);
  EXPECT_LE(memory.info().free_bytes, most);
  EXPECT_TRUE(memory.free(MemoryKind::device, *made, bytes).ok());
}

}  // namespace
}  // namespace gantry::host
