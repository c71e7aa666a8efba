// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/core/rundown.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace gantry {
namespace {

std::chrono::steady_clock::time_point now() {
  return std::chrono::steady_clock::now();
}
std::chrono::steady_clock::time_point never() {
  return now() + std::chrono::hours(1);
}

TEST(RundownTest, AnEmptyLaneNeedsNoWaiting) {
  rundown_publish();
  EXPECT_TRUE(rundown_wait(0, now()));
}

TEST(RundownTest, ACallInTheLaneIsSeenAndOneInAnotherIsNot) {
  std::atomic<int> step{0};
  std::jthread caller([&] {
    const RundownGuard outer(3);
    const RundownGuard nested(3);
    step = 1;
    step.notify_all();
    step.wait(1);
  });
  step.wait(0);
  EXPECT_FALSE(rundown_wait(3, now()));
  EXPECT_TRUE(rundown_wait(4, now()));
  step = 2;
  step.notify_all();
  EXPECT_TRUE(rundown_wait(3, never()));
}

TEST(RundownTest, AThreadThatEndsLeavesNothingBehind) {
  for (int i = 0; i < 200; ++i) {
    std::jthread([] { const RundownGuard guard(7); }).join();
    EXPECT_TRUE(rundown_wait(7, now()));
  }
}

/// What thread_local destructors do: they run in the middle of a thread's end.
struct CallsAtThreadExit {
  ~CallsAtThreadExit() { const RundownGuard guard(9); }
};

TEST(RundownTest, CallsDuringThreadExitAreSafe) {
  for (int i = 0; i < 50; ++i) {
    std::jthread([] {
      static thread_local CallsAtThreadExit at_exit;
      (void)at_exit;
      const RundownGuard guard(9);
    }).join();
  }
  EXPECT_TRUE(rundown_wait(9, now()));
}

/// The whole point: after stop, publish and wait nobody is inside, however entering and closing interleave.
TEST(RundownTest, NobodyIsInsideAfterTheWait) {
  std::atomic<bool> open{true}, stop{false};
  std::atomic<long> entered{0};
  auto resource = std::make_unique<int>(0);  // plain memory: a thread inside while it is replaced is a race
  std::vector<std::jthread> callers;
  for (int i = 0; i < 2; ++i) {
    callers.emplace_back([&] {
      while (!stop) {
        const RundownGuard guard(5);
        if (!open.load(std::memory_order_seq_cst)) continue;
        volatile int value = *resource;
        (void)value;
        ++entered;
      }
    });
  }
  for (int round = 0; round < 2000; ++round) {
    open.store(false, std::memory_order_seq_cst);
    rundown_publish();
    ASSERT_TRUE(rundown_wait(5, never()));
    resource.reset();
    resource = std::make_unique<int>(round);
    open.store(true, std::memory_order_seq_cst);
    if (round % 100 == 0) {
      for (const long seen = entered; entered == seen;) std::this_thread::yield();
    }
  }
  stop = true;
}

}  // namespace
}  // namespace gantry
