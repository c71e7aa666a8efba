// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/base/object_pool.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace gantry {
namespace {

TEST(ObjectPoolTest, MakesAndDestroysObjects) {
  ObjectPool<std::vector<int>> pool;
  std::vector<int>* numbers = pool.make(3, 7);
  EXPECT_EQ(*numbers, std::vector<int>({7, 7, 7}));
  EXPECT_EQ(pool.statistics().live, 1u);
  pool.destroy(numbers);
  EXPECT_EQ(pool.statistics().live, 0u);
  EXPECT_EQ(pool.statistics().made, 1u);
}

TEST(ObjectPoolTest, RoomIsUsedAgain) {
  ObjectPool<int> pool;
  for (int i = 0; i < 10000; ++i) pool.destroy(pool.make(i));
  EXPECT_EQ(pool.statistics().capacity, 64u);
  EXPECT_EQ(pool.statistics().peak, 1u);
  EXPECT_EQ(pool.statistics().made, 10000u);
}

TEST(ObjectPoolTest, ObjectsAreDistinctAlignedAndStayWhereTheyAre) {
  struct alignas(128) Wide {
    int value;
  };
  ObjectPool<Wide> pool;
  std::set<Wide*> objects;
  for (int i = 0; i < 500; ++i) {
    Wide* wide = pool.make(i);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(wide) % 128, 0u);
    EXPECT_TRUE(objects.insert(wide).second);
  }
  int sum = 0;
  for (Wide* wide : objects) sum += wide->value;
  EXPECT_EQ(sum, 499 * 500 / 2);
  for (Wide* wide : objects) pool.destroy(wide);
  EXPECT_EQ(pool.statistics().peak, 500u);
}

TEST(ObjectPoolTest, AConstructorThatThrowsLeavesThePoolAsItWas) {
  struct Throws {
    explicit Throws(bool yes) {
      if (yes) throw std::runtime_error("no");
    }
  };
  ObjectPool<Throws> pool;
  EXPECT_THROW((void)pool.make(true), std::runtime_error);
  EXPECT_EQ(pool.statistics().live, 0u);
  pool.destroy(pool.make(false));
  EXPECT_EQ(pool.statistics().capacity, 64u);
}

TEST(ObjectPoolTest, ThreadsShareAPool) {
  ObjectPool<std::uint64_t> pool;
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&pool, t] {
      std::vector<std::uint64_t*> mine;
      for (std::uint64_t i = 0; i < 5000; ++i) {
        mine.push_back(pool.make(t << 32 | i));
        if (i % 3 == 0) {
          pool.destroy(mine.front());
          mine.erase(mine.begin());
        }
      }
      for (std::uint64_t* object : mine) {
        EXPECT_EQ(*object >> 32, t);
        pool.destroy(object);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(pool.statistics().live, 0u);
  EXPECT_EQ(pool.statistics().made, 20000u);
}

}  // namespace
}  // namespace gantry
