// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/base/spin_lock.hpp>

#include <gtest/gtest.h>

#include <mutex>
#include <thread>
#include <vector>

namespace gantry {
namespace {

TEST(SpinLockTest, OneThreadAtATime) {
  SpinLock lock;
  volatile int sum = 0;  // guarded by lock; volatile, so that each addition is made
  constexpr int threads = 4;
  constexpr int additions = 100'000;
  {
    std::vector<std::jthread> all;
    for (int i = 0; i < threads; ++i) {
      all.emplace_back([&] {
        for (int k = 0; k < additions; ++k) {
          const std::scoped_lock guard(lock);
          sum = sum + 1;
        }
      });
    }
  }
  EXPECT_EQ(sum, threads * additions);
}

}  // namespace
}  // namespace gantry
