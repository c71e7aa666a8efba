// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/base/poison.hpp>
#include <gantry/core/memory_pool.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

namespace gantry {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// Hands out addresses that nobody can touch: a pool that reads or writes its memory crashes.
class FakeSource : public MemorySource {
 public:
  Result<void*> allocate(std::size_t bytes) override {
    const std::scoped_lock guard(m_lock);
    if (fails()) return Status::error(Code::driver_error, "injected", 7);
    if (bytes > capacity - held) return Status::error(Code::out_of_memory, "driver has none", 2);
    held += bytes;
    // Not more aligned than was promised, and never the same address twice.
    const std::uintptr_t at = m_next;
    m_next += (bytes + 127) / 128 * 128 + 128;
    regions[at] = bytes;
    return reinterpret_cast<void*>(at);
  }
  Status free(void* memory, std::size_t bytes) override {
    const std::scoped_lock guard(m_lock);
    if (fails()) return Status::error(Code::driver_error, "injected", 7);
    const auto at = regions.find(reinterpret_cast<std::uintptr_t>(memory));
    EXPECT_TRUE(at != regions.end() && at->second == bytes) << "given back what was not handed out";
    held -= bytes;
    regions.erase(at);
    return {};
  }
  [[nodiscard]] MemoryInfo memory_info() const noexcept override {
    const std::scoped_lock guard(m_lock);
    return {capacity, capacity - held};
  }

  std::map<std::uintptr_t, std::size_t> regions;
  std::size_t capacity = std::size_t{1} << 40;
  std::size_t held = 0;
  int calls = 0;
  int failing_call = 0;  // counted from 1

 private:
  bool fails() { return ++calls == failing_call; }
  mutable std::mutex m_lock;
  std::uintptr_t m_next = (std::uintptr_t{1} << 46) + 128;
};

void* offset(void* memory, std::size_t bytes) {
  return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(memory) + bytes);
}

class MemoryPoolTest : public testing::Test {
 protected:
  void* must_allocate(MemoryPool& pool, std::size_t bytes) {
    auto memory = pool.allocate(bytes);
    EXPECT_TRUE(memory.ok()) << memory.status().message();
    return memory.ok() ? *memory : nullptr;
  }
  FakeSource source;
};

TEST_F(MemoryPoolTest, FreedMemoryIsHandedOutAgain) {
  MemoryPool pool(source, {});
  for (const std::size_t bytes : {1ul, 128ul, 1152ul, 100000ul, 64ul << 20}) {
    void* first = must_allocate(pool, bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % 128, 0u);
    ASSERT_TRUE(pool.free(first).ok());
    const int calls = source.calls;
    void* second = must_allocate(pool, bytes);
    EXPECT_EQ(second, first);
    EXPECT_EQ(source.calls, calls);
    ASSERT_TRUE(pool.free(second).ok());
  }
}

TEST_F(MemoryPoolTest, ZeroBytesHaveTheirOwnAddress) {
  MemoryPool pool(source, {});
  void* a = must_allocate(pool, 0);
  void* b = must_allocate(pool, 0);
  EXPECT_NE(a, nullptr);
  EXPECT_NE(a, b);
  EXPECT_TRUE(pool.free(a).ok());
  EXPECT_TRUE(pool.free(b).ok());
}

TEST_F(MemoryPoolTest, StatisticsCount) {
  MemoryPool pool(source, {});
  void* a = must_allocate(pool, 1000);
  void* b = must_allocate(pool, 3000);
  ASSERT_TRUE(pool.free(a).ok());
  void* c = must_allocate(pool, 1000);
  MemoryPoolStatistics now = pool.statistics();
  EXPECT_EQ(now.used_bytes, 4000u);
  EXPECT_EQ(now.peak_bytes, 4000u);
  EXPECT_EQ(now.allocations, 3u);
  EXPECT_EQ(now.hits, 1u);
  EXPECT_EQ(now.live, 2u);
  EXPECT_EQ(now.source_bytes, source.held);
  EXPECT_EQ(now.cached_bytes, source.held - 4000);
  ASSERT_TRUE(pool.free(b).ok());
  ASSERT_TRUE(pool.free(c).ok());
  now = pool.statistics();
  EXPECT_EQ(now.used_bytes, 0u);
  EXPECT_EQ(now.peak_bytes, 4000u);
  EXPECT_EQ(now.live, 0u);
}

TEST_F(MemoryPoolTest, BadFreesNameTheReasonAndChangeNothing) {
  MemoryPool pool(source, {.name = "host:1 device memory"});
  void* memory = must_allocate(pool, 1000);
  void* other = must_allocate(pool, 1000);
  ASSERT_TRUE(pool.free(other).ok());
  const MemoryPoolStatistics before = pool.statistics();
  const auto expect = [&](void* address, const char* why) {
    const Status status = pool.free(address);
    EXPECT_EQ(status.code(), Code::invalid_argument);
    EXPECT_THAT(status.text(), AllOf(HasSubstr("host:1 device memory"), HasSubstr(why)));
  };
  expect(other, "it was freed before");
  expect(offset(memory, 128), "lies 128 bytes into one of 1000 bytes");
  expect(offset(memory, 1), "lies 1 bytes into one of 1000 bytes");
  expect(nullptr, "it was never allocated here");
  expect(&source, "it was never allocated here");
  expect(offset(memory, std::size_t{1} << 40), "it was never allocated here");
  EXPECT_EQ(pool.statistics().used_bytes, before.used_bytes);
  EXPECT_EQ(pool.statistics().live, 1u);
  EXPECT_TRUE(pool.free(memory).ok());
  expect(memory, "it was freed before");
}

TEST_F(MemoryPoolTest, SizesThatCannotBeAreRefusedAndTheCacheIsKept) {
  source.capacity = std::size_t{1} << 30;
  MemoryPool pool(source, {.name = "host device memory"});
  EXPECT_TRUE(pool.free(must_allocate(pool, 4000)).ok());
  const std::size_t cached = pool.statistics().cached_bytes;
  ASSERT_GT(cached, 0u);
  for (const std::size_t bytes :
       {SIZE_MAX, SIZE_MAX - 8, SIZE_MAX / 2, std::size_t{1} << 49, (std::size_t{1} << 30) + 1}) {
    const Status status = pool.allocate(bytes).status();
    EXPECT_EQ(status.code(), Code::out_of_memory) << bytes;
    EXPECT_THAT(status.text(), AllOf(HasSubstr("host device memory"), HasSubstr("asked for " + std::to_string(bytes)),
                                     HasSubstr(" of 1073741824 in total")));
  }
  EXPECT_EQ(pool.statistics().cached_bytes, cached);
  EXPECT_TRUE(pool.free(must_allocate(pool, 1 << 20)).ok());
}

TEST_F(MemoryPoolTest, OutOfMemoryFlushesTheCacheAndTriesAgain) {
  source.capacity = std::size_t{10} << 20;
  MemoryPool pool(source, {});
  void* kept = must_allocate(pool, 1 << 20);
  ASSERT_TRUE(pool.free(must_allocate(pool, 6 << 20)).ok());
  void* other = must_allocate(pool, 7 << 20);  // fits only without what is cached
  const Status status = pool.allocate(3 << 20).status();
  EXPECT_EQ(status.code(), Code::out_of_memory);
  EXPECT_THAT(status.text(), AllOf(HasSubstr("asked for 3145728"), HasSubstr("8388608 in use by the program")));
  ASSERT_TRUE(pool.free(other).ok());
  void* third = must_allocate(pool, 3 << 20);
  EXPECT_TRUE(pool.free(third).ok());
  EXPECT_TRUE(pool.free(kept).ok());
}

TEST_F(MemoryPoolTest, ASlabThatDoesNotFitIsReplacedByOneBlock) {
  source.capacity = 4096;
  MemoryPool pool(source, {});
  void* memory = must_allocate(pool, 1024);
  EXPECT_LE(source.held, 4096u);
  EXPECT_TRUE(pool.free(memory).ok());
}

TEST_F(MemoryPoolTest, TrimGivesBackWhatIsUnused) {
  MemoryPool pool(source, {});
  void* kept = must_allocate(pool, 100);
  ASSERT_TRUE(pool.free(must_allocate(pool, 100)).ok());
  ASSERT_TRUE(pool.free(must_allocate(pool, 5 << 20)).ok());
  const std::size_t before = source.held;
  const std::size_t trimmed = pool.trim();
  EXPECT_GE(trimmed, std::size_t{5} << 20);
  EXPECT_EQ(source.held, before - trimmed);
  EXPECT_EQ(pool.trim(), 0u);
  ASSERT_TRUE(pool.free(kept).ok());
  pool.trim();
  EXPECT_EQ(source.held, 0u);
  EXPECT_EQ(pool.statistics().source_bytes, 0u);
  EXPECT_TRUE(pool.free(must_allocate(pool, 100)).ok());
}

TEST_F(MemoryPoolTest, CloseGivesBackMemoryInUseToo) {
  MemoryPool pool(source, {});
  for (int i = 0; i < 1000; ++i) must_allocate(pool, static_cast<std::size_t>(i) * 37);
  EXPECT_TRUE(pool.close().ok());
  EXPECT_TRUE(source.regions.empty());
  EXPECT_TRUE(pool.close().ok());
  EXPECT_EQ(pool.allocate(8).status().code(), Code::device_closed);
  EXPECT_EQ(pool.statistics().used_bytes, 0u);
}

TEST_F(MemoryPoolTest, CloseRunsToTheEndAndCanBeRepeated) {
  MemoryPool pool(source, {});
  must_allocate(pool, 5 << 20);
  must_allocate(pool, 6 << 20);
  must_allocate(pool, 7 << 20);
  source.failing_call = source.calls + 2;
  const Status status = pool.close();
  EXPECT_EQ(status.count(), 1u);
  EXPECT_EQ(status.native(), 7);
  EXPECT_EQ(source.regions.size(), 1u);
  EXPECT_TRUE(pool.close().ok());
  EXPECT_TRUE(source.regions.empty());
}

class MemoryPoolModeTest : public MemoryPoolTest, public testing::WithParamInterface<std::size_t> {};

TEST_P(MemoryPoolModeTest, AnyCallOfTheSourceMayFail) {
  int last_call = 1;
  for (int k = 1; k <= last_call; ++k) {
    FakeSource failing;
    failing.failing_call = k;
    {
      MemoryPool pool(failing, {.granularity = GetParam()});
      std::vector<void*> held;
      for (const std::size_t bytes : {100ul, 5000ul, 200000ul, 100ul, 5000ul, 3ul << 20}) {
        auto memory = pool.allocate(bytes);
        if (!memory.ok()) {
          EXPECT_EQ(memory.status().native(), 7);
          memory = pool.allocate(bytes);
        }
        ASSERT_TRUE(memory.ok());
        held.push_back(*memory);
      }
      for (void* memory : held) {
        if (!pool.free(memory).ok()) {
          EXPECT_TRUE(pool.free(memory).ok()) << "the memory is still the caller's";
        }
      }
      EXPECT_EQ(pool.statistics().live, 0u);
      EXPECT_EQ(pool.statistics().used_bytes, 0u);
      EXPECT_EQ(pool.statistics().allocations, 6u);
      pool.trim();
      pool.trim();
      EXPECT_EQ(failing.regions.size(), 0u) << "lost when call " << k << " failed";
      last_call = failing.calls;
    }
  }
  EXPECT_GT(last_call, 4);
}

TEST_P(MemoryPoolModeTest, BehavesLikeAModelUnderRandomUse) {
  std::mt19937 random(GetParam());
  source.capacity = std::size_t{64} << 20;
  MemoryPool pool(source, {.granularity = GetParam()});
  std::map<std::uintptr_t, std::size_t> model;  // address -> bytes
  std::size_t used = 0;
  for (int step = 0; step < 20000; ++step) {
    const auto action = random() % 100;
    if (action < 50 || model.empty()) {
      const std::size_t bytes = random() % (std::size_t{1} << (random() % 22));
      auto memory = pool.allocate(bytes);
      if (!memory.ok()) {
        ASSERT_EQ(memory.status().code(), Code::out_of_memory);
        continue;
      }
      const auto at = reinterpret_cast<std::uintptr_t>(*memory);
      ASSERT_EQ(at % 128, 0u);
      const auto next = model.lower_bound(at);
      ASSERT_TRUE(next == model.end() || at + std::max<std::size_t>(bytes, 1) <= next->first) << "overlap";
      if (next != model.begin()) {
        const auto before = std::prev(next);
        ASSERT_LE(before->first + std::max<std::size_t>(before->second, 1), at) << "overlap";
      }
      const auto region = std::prev(source.regions.upper_bound(at));
      ASSERT_LE(at + bytes, region->first + region->second) << "outside of what the source gave";
      model[at] = bytes;
      used += bytes;
    } else if (action < 98) {
      auto at = std::next(model.begin(), static_cast<std::ptrdiff_t>(random() % model.size()));
      if (random() % 8 == 0) {
        ASSERT_FALSE(pool.free(reinterpret_cast<void*>(at->first + 64)).ok());
      }
      ASSERT_TRUE(pool.free(reinterpret_cast<void*>(at->first)).ok());
      ASSERT_FALSE(pool.free(reinterpret_cast<void*>(at->first)).ok());
      used -= at->second;
      model.erase(at);
    } else {
      pool.trim();
    }
    ASSERT_EQ(pool.statistics().used_bytes, used);
    ASSERT_EQ(pool.statistics().live, model.size());
    ASSERT_EQ(pool.statistics().source_bytes, source.held);
  }
  EXPECT_TRUE(pool.close().ok());
  EXPECT_TRUE(source.regions.empty());
}

INSTANTIATE_TEST_SUITE_P(Granularities, MemoryPoolModeTest, testing::Values(128, 4096));

TEST_F(MemoryPoolTest, WithAGranularityNothingIsSharedOrKept) {
  MemoryPool pool(source, {.granularity = 4096});
  void* a = must_allocate(pool, 10);
  void* b = must_allocate(pool, 5000);
  EXPECT_EQ(source.regions.size(), 2u);
  EXPECT_EQ(source.held, 3u * 4096);
  ASSERT_TRUE(pool.free(a).ok());
  EXPECT_EQ(source.held, 2u * 4096);
  ASSERT_TRUE(pool.free(b).ok());
  EXPECT_EQ(source.held, 0u);
}

#if defined(GANTRY_IMPL_ASAN)
TEST(MemoryPoolPoisonTest, OnlyWhatWasAskedForCanBeTouched) {
  class HeapSource : public FakeSource {
   public:
    Result<void*> allocate(std::size_t bytes) override { return std::aligned_alloc(128, (bytes + 127) / 128 * 128); }
    Status free(void* memory, std::size_t) override {
      std::free(memory);
      return {};
    }
  };
  HeapSource source;
  MemoryPool pool(source, {.host_addressable = true});
  auto allocated = pool.allocate(1000);
  ASSERT_TRUE(allocated.ok());
  char* memory = static_cast<char*>(*allocated);
  EXPECT_FALSE(__asan_address_is_poisoned(memory + 999));
  EXPECT_TRUE(__asan_address_is_poisoned(memory + 1000));
  ASSERT_TRUE(pool.free(memory).ok());
  EXPECT_TRUE(__asan_address_is_poisoned(memory));
  EXPECT_EQ(*pool.allocate(900), memory);
  EXPECT_FALSE(__asan_address_is_poisoned(memory));
  EXPECT_TRUE(pool.close().ok());
}
#endif

TEST_F(MemoryPoolTest, ThreadsShareAPool) {
  MemoryPool pool(source, {});
  std::mutex lock;
  std::vector<void*> handed_over;  // freed by whoever comes next
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      for (int i = 0; i < 3000; ++i) {
        auto memory = pool.allocate(random() % 20000);
        ASSERT_TRUE(memory.ok());
        void* other = *memory;
        {
          const std::scoped_lock guard(lock);
          handed_over.push_back(other);
          std::swap(handed_over.back(), handed_over[random() % handed_over.size()]);
          if (handed_over.size() < 50) continue;
          other = handed_over.back();
          handed_over.pop_back();
        }
        ASSERT_TRUE(pool.free(other).ok());
        if (i % 500 == 0) pool.trim();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(pool.statistics().live, handed_over.size());
  for (void* memory : handed_over) EXPECT_TRUE(pool.free(memory).ok());
  EXPECT_EQ(pool.statistics().used_bytes, 0u);
}

TEST_F(MemoryPoolTest, OfThreadsThatFreeTheSameMemoryOneSucceeds) {
  MemoryPool pool(source, {});
  for (int round = 0; round < 200; ++round) {
    void* memory = must_allocate(pool, 64);
    std::atomic<int> succeeded{0};
    const auto free_it = [&] { succeeded += pool.free(memory).ok() ? 1 : 0; };
    std::thread other(free_it);
    free_it();
    other.join();
    ASSERT_EQ(succeeded, 1);
  }
}

}  // namespace
}  // namespace gantry
