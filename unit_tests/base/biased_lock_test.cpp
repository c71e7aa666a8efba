// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/base/biased_lock.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace gantry {
namespace {

TEST(BiasedLockTest, ExcludesThreadsWhileOneOwnsItAndAfterThat) {
  // Each round takes a lock through its whole life: free, owned, revoked while the owner is busy, shared.
  for (int round = 0; round < 200; ++round) {
    BiasedLock lock;
    std::uint64_t counter = 0;  // not atomic: a lost update or a race shows that two threads were inside
    const auto work = [&](int times) {
      for (int i = 0; i < times; ++i) {
        const std::scoped_lock guard(lock);
        ++counter;
      }
    };
    work(round);  // sometimes an owner, sometimes not
    std::thread second(work, 500);
    work(500);
    second.join();
    EXPECT_EQ(counter, 1000u + static_cast<unsigned>(round));
  }
}

TEST(BiasedLockTest, OutlivesTheThreadThatOwnedIt) {
  BiasedLock lock;
  int value = 0;
  for (int t = 0; t < 8; ++t) {
    std::thread([&] {
      for (int i = 0; i < 200; ++i) {
        const std::scoped_lock guard(lock);
        ++value;
      }
    }).join();
  }
  const std::scoped_lock guard(lock);
  EXPECT_EQ(value, 1600);
}

}  // namespace
}  // namespace gantry
