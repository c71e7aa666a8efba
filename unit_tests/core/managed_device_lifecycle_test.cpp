// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/core/device_gate.hpp>
#include <unit_tests/support/launch.hpp>
#include <unit_tests/support/log_capture.hpp>
#include <unit_tests/support/runtime_fixture.hpp>

#include <gmock/gmock.h>

#include <atomic>
#include <latch>
#include <stdexcept>
#include <thread>
#include <vector>

namespace gantry::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class ManagedDeviceLifecycleTest : public RuntimeFixture {};

TEST_F(ManagedDeviceLifecycleTest, EveryFailedOpenStepIsRolledBackAndTheNextOpenSucceeds) {
  int steps = 0;
  for (int k = 1;; ++k) {
    backend.driver.fail_call(k);
    const Result<DeviceHandle> handle = runtime->open(0);
    if (handle.ok()) break;  // k is past the last call of an open
    backend.driver.stop_failing();
    EXPECT_EQ(handle.status().native(), 7);
    EXPECT_THAT(handle.status().text(), HasSubstr("opening fake:0"));
    EXPECT_EQ(backend.driver.live(), FakeDriver::Live()) << "after a failure of call " << k;
    EXPECT_EQ(device().state(), DeviceState::closed);
    const DeviceHandle retried = open();
    EXPECT_EQ(device().state(), DeviceState::ready);
    EXPECT_OK(launch(default_queue(retried), [] {}));
    EXPECT_OK(runtime->close(0, CloseMode::refuse_if_busy));
    steps = k;
  }
  EXPECT_EQ(steps, 3) << "device, channel, default queue";
}

TEST_F(ManagedDeviceLifecycleTest, ClosesInMirroredOrder) {
  const DeviceHandle handle = open();
  const QueueRef queue = create_queue(handle);
  const EventRef event = device().create_event(handle.generation, "event").value();
  allocate(handle, 1 << 22);
  const std::size_t before = backend.driver.calls().size();
  EXPECT_OK(runtime->close(0, CloseMode::force));
  std::vector<std::string> calls = backend.driver.calls();
  calls.erase(calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(before));
  EXPECT_THAT(calls, ElementsAre("drain", "free", "queue_close", "queue_close", "event_close", "channel_close",
                                 "device_close"));
}

TEST_F(ManagedDeviceLifecycleTest, AClosedDeviceOpensAgainWithANewGeneration) {
  DeviceHandle before = open();
  for (int cycle = 0; cycle < 1000; ++cycle) {
    const QueueRef queue = default_queue(before);
    void* memory = allocate(before, 100);
    EXPECT_OK(launch(queue, [] {}));
    EXPECT_OK(device().deallocate(before.generation, memory));
    EXPECT_OK(runtime->close(0, CloseMode::refuse_if_busy));
    const DeviceHandle after = open();
    EXPECT_EQ(after.generation, before.generation + 1);
    EXPECT_EQ(launch(queue, [] {}).code(), Code::stale_handle);
    before = after;
  }
  EXPECT_EQ(backend.driver.live(), (FakeDriver::Live{.devices = 1, .channels = 1, .queues = 1}));
}

TEST_F(ManagedDeviceLifecycleTest, ManyThreadsThatTouchAClosedDeviceOpenItOnce) {
  constexpr int threads = 8;
  for (int round = 1; round <= 20; ++round) {
    std::latch start(threads);
    std::vector<std::jthread> pool;
    std::atomic<int> ran{0};
    for (int i = 0; i < threads; ++i) {
      pool.emplace_back([&] {
        start.arrive_and_wait();
        const DeviceHandle handle = open();
        EXPECT_OK(launch(default_queue(handle), [&ran] { ++ran; }));
      });
    }
    pool.clear();
    EXPECT_EQ(backend.driver.count("device_open"), round);
    EXPECT_OK(runtime->close(0, CloseMode::refuse_if_busy));
    EXPECT_EQ(ran, threads);
  }
}

TEST_F(ManagedDeviceLifecycleTest, ThreadsCallWhileAnotherClosesAndOpens) {
  std::atomic<bool> stop{false};
  std::atomic<int> worked{0};
  std::vector<std::jthread> pool;
  for (int i = 0; i < 3; ++i) {
    pool.emplace_back([&] {
      while (!stop) {
        const Result<DeviceHandle> handle = runtime->open(0);
        ASSERT_TRUE(handle.ok()) << handle.status().message();
        const auto expected = [](Code code) { return code == Code::device_closed || code == Code::stale_handle; };
        const Result<QueueRef> queue = device().create_queue(handle.value().generation, "racing");
        if (!queue.ok()) {
          EXPECT_TRUE(expected(queue.status().code())) << queue.status().message();
          continue;
        }
        const Result<void*> memory = device().allocate(handle.value().generation, MemoryKind::device, 64, "racing");
        const Status launched = launch(queue.value(), [&worked] { ++worked; });
        EXPECT_TRUE(launched.ok() || expected(launched.code())) << launched.message();
        if (memory.ok()) {
          EXPECT_OK(device().deallocate(handle.value().generation, memory.value()));
        }
        runtime->devices().status().ignore();
        EXPECT_OK(runtime->fence_all());
      }
    });
  }
  settings.leaks = Leaks::off;
  const LogCapture quiet;
  while (worked < 10) std::this_thread::yield();
  for (int cycle = 0; cycle < 200; ++cycle) {
    EXPECT_OK(runtime->close(0, CloseMode::force));
    open();
  }
  stop = true;
  pool.clear();
  EXPECT_GT(worked, 0);
}

/// A closure that is inside a launch as long as it is being copied.
struct SlowToCopy {
  std::latch* inside;
  std::latch* leave;
  SlowToCopy(std::latch& in, std::latch& out) : inside(&in), leave(&out) {}
  SlowToCopy(const SlowToCopy& other) : inside(other.inside), leave(other.leave) {
    inside->count_down();
    leave->wait();
  }
  void operator()() const {}
};

/// A close that is refused, but decides for as long as a launch is inside the device.
class DecidingCloseTest : public ManagedDeviceLifecycleTest {
 protected:
  void SetUp() override {
    settings.close_timeout = std::chrono::seconds(1);
    start();
    handle = open();
    queue = default_queue(handle);
    backend.driver.hold();  // a launch that is held copies its body
  }
  void TearDown() override {
    queue = QueueRef();
    ManagedDeviceLifecycleTest::TearDown();
  }

  [[nodiscard]] const DeviceGate& gate() const { return DeviceGate::at(queue.id() - 1); }
  /// Runs `meanwhile(leave)`, which counts `leave` down to let the launch go on.
  template <class Meanwhile>
  void while_it_decides(const Meanwhile& meanwhile) {
    std::latch inside(1);
    std::latch leave(1);
    const std::jthread launcher([&] { EXPECT_OK(launch(queue, SlowToCopy(inside, leave))); });
    inside.wait();
    const std::jthread closer([&] { EXPECT_EQ(runtime->close(0, CloseMode::refuse_if_busy).code(), Code::busy); });
    while (gate().deciding.load() != handle.generation) std::this_thread::yield();
    meanwhile(leave);
  }

  DeviceHandle handle;
  QueueRef queue;
};

TEST_F(DecidingCloseTest, CallsWaitAndGoOnWhenItIsRefused) {
  while_it_decides([&](std::latch& leave) {
    EXPECT_TRUE(queue.current()) << "nothing is decided";
    EXPECT_FALSE(queue.idle()) << "not known to be";
    EXPECT_OK(device().deallocate(handle.generation, allocate(handle, 100)));
    leave.count_down();
  });
  backend.driver.let_go();
  EXPECT_TRUE(queue.current());
  EXPECT_TRUE(queue.usable());
}

TEST_F(DecidingCloseTest, AFenceWaitsForTheDecisionThenForTheWork) {
  bool ran = false;
  EXPECT_OK(launch(queue, [&] { ran = true; }));
  while_it_decides([&](std::latch& leave) {
    const std::jthread decided([&] {
      while (gate().deciding.load() != 0) std::this_thread::yield();
      backend.driver.let_go();
      leave.count_down();
    });
    EXPECT_OK(runtime->wait_all());
    EXPECT_TRUE(ran) << "the wait ended with work of the device running";
  });
}

TEST_F(ManagedDeviceLifecycleTest, EveryTeardownStepRunsAndEveryErrorIsReported) {
  const DeviceHandle handle = open();
  const QueueRef queue = create_queue(handle);
  const EventRef event = device().create_event(handle.generation, "event").value();
  allocate(handle, 1 << 22);
  for (const char* call : {"drain", "free", "queue_close", "event_close", "channel_close", "device_close"}) {
    backend.driver.fail_always(call, Code::driver_error);
  }
  const LogCapture quiet;
  const Status status = runtime->close(0, CloseMode::force);
  EXPECT_EQ(status.code(), Code::driver_error);
  EXPECT_EQ(status.count(), 7U) << status.message();
  for (const char* step : {"running work", "memory", "queues", "events", "device"}) {
    EXPECT_THAT(status.message(), HasSubstr(std::string("step '") + step + "'"));
  }
  EXPECT_EQ(backend.driver.live(), FakeDriver::Live());
  EXPECT_EQ(device().state(), DeviceState::closed);
}

TEST_F(ManagedDeviceLifecycleTest, ADriverThatIsGoneCountsAsClosed) {
  const DeviceHandle handle = open();
  const QueueRef queue = create_queue(handle);
  allocate(handle, 1 << 22);
  for (const char* call : {"drain", "free", "queue_close", "channel_close", "device_close"}) {
    backend.driver.fail_always(call, Code::unavailable);
  }
  LogCapture log;
  EXPECT_OK(runtime->close(0, CloseMode::force));
  EXPECT_EQ(device().state(), DeviceState::closed);
  EXPECT_THAT(log.text(), Not(HasSubstr("unavailable")));
}

TEST_F(ManagedDeviceLifecycleTest, AnErrorOfWorkThatNobodyWaitedForIsToldByTheClose) {
  const DeviceHandle handle = open();
  EXPECT_OK(launch(
      default_queue(handle), [] { throw std::runtime_error("boom"); }, "unwatched"));
  const Status status = runtime->close(0, CloseMode::force);
  EXPECT_EQ(status.code(), Code::kernel_error);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("unwatched"), HasSubstr("boom")));
  open();
  EXPECT_OK(runtime->close(0, CloseMode::force));
}

TEST_F(ManagedDeviceLifecycleTest, ClosingTwiceIsOk) {
  open();
  EXPECT_OK(runtime->close(0, CloseMode::refuse_if_busy));
  EXPECT_OK(runtime->close(0, CloseMode::refuse_if_busy));
  EXPECT_OK(runtime->close(0, CloseMode::force));
  EXPECT_OK(runtime->close_all());
  EXPECT_EQ(backend.driver.count("device_close"), 1);
}

TEST_F(ManagedDeviceLifecycleTest, ADeviceInUseRefusesToCloseAndListsWhy) {
  const DeviceHandle handle = open();
  void* memory = allocate(handle, 4096, "temperature");
  {
    const QueueRef queue = create_queue(handle, "solver");
    const Status status = runtime->close(0, CloseMode::refuse_if_busy);
    EXPECT_EQ(status.code(), Code::busy);
    EXPECT_THAT(status.text(),
                AllOf(HasSubstr("fake:0"), HasSubstr("temperature"), HasSubstr("4096"), HasSubstr("solver")));
    EXPECT_OK(launch(queue, [] {})) << "nothing was changed";
  }
  EXPECT_OK(device().deallocate(handle.generation, memory));
  EXPECT_OK(runtime->close(0, CloseMode::refuse_if_busy));
}

TEST_F(ManagedDeviceLifecycleTest, ClosingAndOpeningInsideAKernelAreRefused) {
  const DeviceHandle handle = open();
  Status close, close_all, open_other, fence;
  EXPECT_OK(launch(default_queue(handle), [&] {
    close = runtime->close(0, CloseMode::force);
    close_all = runtime->close_all();
    open_other = runtime->open(1).status();
    fence = default_queue(handle).sync();
    EXPECT_OK(runtime->fence_all()) << "a global fence does not wait for its own kernel";
    EXPECT_TRUE(runtime->open(0).ok()) << "a device that is open needs no opening";
  }));
  EXPECT_EQ(close.code(), Code::refused);
  EXPECT_EQ(close_all.code(), Code::refused);
  EXPECT_EQ(open_other.code(), Code::refused);
  EXPECT_EQ(fence.code(), Code::refused);
  EXPECT_EQ(device().state(), DeviceState::ready);
}

TEST_F(ManagedDeviceLifecycleTest, WorkThatStillRunsLeavesTheDevicePoisonedAndItsMemoryAlone) {
  settings.close_timeout = std::chrono::seconds(0);
  start();
  const DeviceHandle handle = open();
  auto* memory = static_cast<int*>(allocate(handle, sizeof(int), "used by the kernel"));
  const QueueRef queue = create_queue(handle);
  backend.driver.hold();
  EXPECT_OK(launch(queue, [memory] { *memory = 42; }));
  const LogCapture quiet;
  const Status status = runtime->close(0, CloseMode::force);
  EXPECT_EQ(status.code(), Code::timeout);
  EXPECT_THAT(status.message(), HasSubstr("work still runs"));
  EXPECT_EQ(device().state(), DeviceState::poisoned);
  EXPECT_EQ(backend.driver.count("free"), 0);
  EXPECT_EQ(backend.driver.count("device_close"), 0);
  EXPECT_EQ(launch(queue, [] {}).code(), Code::stale_handle);
  EXPECT_EQ(runtime->open(0).status().code(), Code::timeout) << "never a second set of threads on the same CPUs";
  open(1);

  backend.driver.let_go();
  EXPECT_EQ(backend.driver.count("device_close"), 0);
  settings.close_timeout = std::chrono::hours(1);
  const Result<DeviceHandle> again = runtime->open(0);
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(backend.driver.count("device_close"), 1);
  EXPECT_EQ(again.value().generation, handle.generation + 1);
}

}  // namespace
}  // namespace gantry::test
