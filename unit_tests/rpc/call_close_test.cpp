// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "calls_environment.hpp"

#include <gantry/device/host_function.hpp>
#include <gantry/device/malloc.hpp>
#include <gantry/device/printf.hpp>

#include <gmock/gmock.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

namespace gantry {
namespace {

using testing::HasSubstr;

// So that a close that must give up does so soon.
[[maybe_unused]] const bool g_closes_soon = setenv("GANTRY_CLOSE_TIMEOUT", "1", 0) == 0;

class CallCloseTest : public CallsFixture {
 protected:
  static int server_threads() {
    int count = 0;
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
      std::ifstream file(thread.path() / "comm");
      std::string name;
      if (std::getline(file, name) && name.starts_with("gantry-rpc-")) ++count;
    }
    return count;
  }
  static std::size_t entries(const char* folder) {
    const std::filesystem::directory_iterator first(folder);
    return static_cast<std::size_t>(std::distance(begin(first), end(first)));
  }
};

/// Says that it was entered, then waits until it may return.
struct Stuck {
  std::atomic<bool> inside{false};
  std::atomic<bool> leave{false};
  HostFunction<void()> function{[this] {
    inside = true;
    inside.notify_all();
    leave.wait(false);
  }};
  void let_go() {
    leave = true;
    leave.notify_all();
  }
};

TEST_F(CallCloseTest, HundredsOfCyclesWithCallsLeaveNothing) {
  EXPECT_OK(close_device(0));
  EXPECT_OK(close_device(1));
  const auto cycle = [&] {
    const DeviceHandle device = open(0);
    const HostFunction<int(int)> twice([](int i) { return 2 * i; });
    EXPECT_OK(run(device, 8, [f = twice.ref()](std::int64_t i) {
      gantry::printf("%d\n", f(static_cast<int>(i)));
      gantry::free(gantry::malloc(100));
    }));
    EXPECT_OK(close_device(0));
  };
  for (int i = 0; i < 10; ++i) cycle();
  const std::size_t threads = entries("/proc/self/task");
  const std::size_t files = entries("/proc/self/fd");
  for (int i = 0; i < 200; ++i) cycle();
  while (entries("/proc/self/task") > threads) std::this_thread::yield();  // one that was joined may still be listed
  EXPECT_EQ(entries("/proc/self/fd"), files);
  EXPECT_TRUE(leak_report().empty());
  EXPECT_EQ(server_threads(), 0);
}

TEST_F(CallCloseTest, AForcedCloseEndsAKernelThatWaitsForItsAnswer) {
  log_to_text();
  Stuck stuck;
  std::atomic<rpc::Answer> answer{rpc::Answer::ok};
  std::atomic<void*> memory{nullptr};
  const QueueRef queue = queue_of(handle);
  Launch heavy;
  heavy.heavy = true;  // so that the two items wait at the same time
  std::atomic<int> waiting{0};
  EXPECT_OK(parallel_for(
      queue, 2,
      [&, f = stuck.function.ref()](std::int64_t i) {
        if (i == 0) {
          answer = f.try_call();
        } else {
          stuck.inside.wait(false);
          ++waiting;
          memory = gantry::malloc(100);
        }
      },
      heavy));
  stuck.inside.wait(false);
  while (waiting == 0) std::this_thread::yield();
  const Status status = close_device(0, CloseMode::force);
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(status.text(), HasSubstr("the handler of one of its calls does not return"));
  EXPECT_EQ(answer.load(), rpc::Answer::aborted);
  EXPECT_EQ(memory.load(), nullptr);
  stuck.let_go();
  // Once the handler has returned the close can be finished, and nothing of the old open period is left.
  handle = open(0);
  EXPECT_OK(run(handle, 1, [](std::int64_t) { gantry::free(gantry::malloc(1)); }));
  EXPECT_OK(close_device(0));
  EXPECT_OK(close_device(1));
  EXPECT_TRUE(leak_report().empty());
  for (int looks = 0; looks < 2000 && server_threads() != 0; ++looks) std::this_thread::yield();
  EXPECT_EQ(server_threads(), 0);
}

TEST_F(CallCloseTest, AnotherDeviceWorksAndClosesWhileOneIsStuck) {
  Stuck stuck;
  std::atomic<int> answered{0};
  const HostFunction<void()> count([&] { ++answered; });
  const QueueRef queue = queue_of(handle);
  EXPECT_OK(parallel_for(queue, 1, [f = stuck.function.ref()](std::int64_t) { f(); }));
  stuck.inside.wait(false);
  for (int i = 0; i < 3; ++i) {
    EXPECT_OK(run(other, 8, [f = count.ref()](std::int64_t) { f(); }));
    EXPECT_OK(close_device(1));
    other = open(1);
  }
  EXPECT_EQ(answered, 24);
  stuck.let_go();
  EXPECT_OK(queue.sync());
}

}  // namespace
}  // namespace gantry
