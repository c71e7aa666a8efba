// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <unit_tests/support/launch.hpp>
#include <unit_tests/support/runtime_fixture.hpp>

#include <gantry/base/log.hpp>

#include <gmock/gmock.h>

#include <atomic>
#include <fstream>
#include <iterator>
#include <latch>
#include <thread>
#include <vector>

namespace gantry::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class RuntimeTest : public RuntimeFixture {};

/// Collects what is logged while it lives.
class LogCapture {
 public:
  LogCapture() {
    set_log_callback([](LogLevel, std::string_view text, void* self) { static_cast<LogCapture*>(self)->add(text); },
                     this);
  }
  ~LogCapture() { set_log_callback(nullptr, nullptr); }
  std::string text() {
    const std::lock_guard lock(m_mutex);
    return m_text;
  }

 private:
  void add(std::string_view text) {
    const std::lock_guard lock(m_mutex);
    m_text += std::string(text) + "\n";
  }
  std::mutex m_mutex;
  std::string m_text;
};

TEST_F(RuntimeTest, ListsDevicesWithoutOpeningThem) {
  const auto devices = runtime->devices().value();
  ASSERT_EQ(devices.size(), 2U);
  EXPECT_EQ(devices[1].info.name, "fake:1");
  EXPECT_EQ(devices[1].state, DeviceState::closed);
  EXPECT_THAT(devices[0].selection, HasSubstr("fake:0 because it is the first of 2 devices, GANTRY_DEVICES unset"));
  EXPECT_EQ(runtime->default_device().value().id, 0);
  EXPECT_THAT(backend.driver.calls(), IsEmpty());
}

TEST_F(RuntimeTest, OpensOnlyTheDeviceThatIsUsed) {
  const DeviceHandle handle = open(1);
  EXPECT_EQ(backend.driver.count("device_open"), 1);
  EXPECT_EQ(device(1).state(), DeviceState::ready);
  EXPECT_EQ(device(0).state(), DeviceState::closed);
  EXPECT_EQ(open(1), handle) << "opening twice is the same period";
  EXPECT_EQ(backend.driver.count("device_open"), 1);
}

TEST_F(RuntimeTest, AnUnknownDeviceIsNamedWithThoseThatExist) {
  for (const DeviceId id : {-1, 2, 99}) {
    const Status status = runtime->open(id).status();
    EXPECT_EQ(status.code(), Code::not_found);
    EXPECT_THAT(status.text(), AllOf(HasSubstr(std::to_string(id)), HasSubstr("0 = fake:0, 1 = fake:1")));
  }
  EXPECT_EQ(runtime->device({0, 0}).status().code(), Code::invalid_argument);
}

TEST_F(RuntimeTest, EveryFailedOpenStepIsRolledBackAndTheNextOpenSucceeds) {
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

TEST_F(RuntimeTest, ClosesInMirroredOrder) {
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

TEST_F(RuntimeTest, AClosedDeviceOpensAgainWithANewGeneration) {
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

TEST_F(RuntimeTest, ManyThreadsThatTouchAClosedDeviceOpenItOnce) {
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

TEST_F(RuntimeTest, ThreadsCallWhileAnotherClosesAndOpens) {
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

TEST_F(RuntimeTest, EveryTeardownStepRunsAndEveryErrorIsReported) {
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

TEST_F(RuntimeTest, ADriverThatIsGoneCountsAsClosed) {
  const DeviceHandle handle = open();
  const QueueRef queue = create_queue(handle);
  allocate(handle, 1 << 22);
  for (const char* call : {"drain", "free", "queue_close", "channel_close", "device_close"}) {
    backend.driver.fail_always(call, Code::unavailable);
  }
  const LogCapture quiet;
  EXPECT_OK(runtime->close(0, CloseMode::force));
  EXPECT_EQ(device().state(), DeviceState::closed);
}

TEST_F(RuntimeTest, ClosingTwiceIsOk) {
  open();
  EXPECT_OK(runtime->close(0, CloseMode::refuse_if_busy));
  EXPECT_OK(runtime->close(0, CloseMode::refuse_if_busy));
  EXPECT_OK(runtime->close(0, CloseMode::force));
  EXPECT_OK(runtime->close_all());
  EXPECT_EQ(backend.driver.count("device_close"), 1);
}

TEST_F(RuntimeTest, ADeviceInUseRefusesToCloseAndListsWhy) {
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

TEST_F(RuntimeTest, AForcedCloseTakesEverythingBackAndReportsItOnce) {
  struct Seen {
    std::vector<LeakReport> reports;
  } seen;
  runtime->set_leak_callback(
      [](const LeakReport& report, void* user) { static_cast<Seen*>(user)->reports.push_back(report); }, &seen);
  const DeviceHandle first = open(0);
  const DeviceHandle second = open(1);
  void* leaked = allocate(first, 1000, "forgotten");
  allocate(second, 24, "also forgotten");
  const QueueRef queue = create_queue(second, "solver");
  LogCapture log;
  EXPECT_OK(runtime->close_all());
  ASSERT_EQ(seen.reports.size(), 1U) << "one report for all devices";
  ASSERT_EQ(seen.reports[0].objects.size(), 3U);
  EXPECT_EQ(seen.reports[0].objects[0].label, "forgotten");
  EXPECT_EQ(seen.reports[0].objects[0].address, leaked);
  EXPECT_EQ(seen.reports[0].objects[1].device_name, "fake:1");
  EXPECT_THAT(log.text(),
              AllOf(HasSubstr("leak report: 3 objects"), HasSubstr("'forgotten', 1000 bytes"), HasSubstr("solver")));
  EXPECT_TRUE(runtime->leak_report().empty());

  EXPECT_OK(device(0).deallocate(first.generation, leaked)) << "a late free does nothing";
  EXPECT_EQ(launch(queue, [] {}).code(), Code::stale_handle);
  EXPECT_OK(runtime->close_all());
  EXPECT_EQ(seen.reports.size(), 1U) << "nothing more to report";
}

TEST_F(RuntimeTest, LeaksAreWrittenAsOneJsonDocument) {
  settings.leaks_file = ::testing::TempDir() + "gantry_leaks.json";
  settings.leaks = Leaks::fail;
  start();
  const LogCapture quiet;
  allocate(open(0), 11, "first");
  EXPECT_OK(runtime->close(0, CloseMode::force));
  EXPECT_TRUE(runtime->leaks_failed());
  allocate(open(1), 22, "second");
  EXPECT_OK(runtime->close(1, CloseMode::force));
  std::ifstream file(settings.leaks_file);
  const std::string json((std::istreambuf_iterator<char>(file)), {});
  EXPECT_THAT(json,
              AllOf(HasSubstr("\"label\": \"first\""), HasSubstr("\"label\": \"second\""), HasSubstr("\"count\": 2")));
}

TEST_F(RuntimeTest, LeaksOffStaysSilentButTellsTheCallback) {
  settings.leaks = Leaks::off;
  start();
  int calls = 0;
  runtime->set_leak_callback([](const LeakReport&, void* user) { ++*static_cast<int*>(user); }, &calls);
  LogCapture log;
  allocate(open(0), 11, "first");
  EXPECT_OK(runtime->close(0, CloseMode::force));
  EXPECT_EQ(log.text(), "");
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(runtime->leaks_failed());
}

TEST_F(RuntimeTest, ClosingAndOpeningInsideAKernelAreRefused) {
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

TEST_F(RuntimeTest, MemoryFreedInsideAKernelIsKeptUntilItHasCompleted) {
  const DeviceHandle handle = open();
  void* memory = allocate(handle, 1 << 22);
  EXPECT_OK(launch(default_queue(handle), [&] {
    EXPECT_OK(device().deallocate(handle.generation, memory));
    EXPECT_EQ(device().deallocate(handle.generation, memory).code(), Code::invalid_argument) << "freed twice";
    EXPECT_EQ(device().status().used_bytes, std::size_t{1} << 22);
    EXPECT_TRUE(runtime->leak_report().empty()) << "the program holds it no more";
  }));
  EXPECT_EQ(device().status().used_bytes, 0U);
}

TEST_F(RuntimeTest, WorkThatStillRunsLeavesTheDevicePoisonedAndItsMemoryAlone) {
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

TEST_F(RuntimeTest, APoisonedDeviceIsReportedOnceAndTheOthersWork) {
  const DeviceHandle bad = open(0);
  const DeviceHandle good = open(1);
  backend.driver.hold();
  EXPECT_OK(launch(
      default_queue(bad), [] { throw std::runtime_error("boom"); }, "second"));
  backend.driver.let_go();
  const Status status = runtime->fence_all();
  EXPECT_EQ(status.code(), Code::kernel_error);
  EXPECT_THAT(status.text(), AllOf(HasSubstr("second"), HasSubstr("fake:0"), HasSubstr("boom")));
  EXPECT_EQ(device(0).state(), DeviceState::poisoned);
  EXPECT_OK(runtime->fence_all());
  EXPECT_OK(launch(default_queue(good), [] {}));
  EXPECT_EQ(launch(default_queue(bad), [] {}).code(), Code::kernel_error);
  EXPECT_OK(runtime->close(0, CloseMode::refuse_if_busy));
  EXPECT_OK(launch(default_queue(open(0)), [] {}));
}

TEST_F(RuntimeTest, OutOfMemoryNamesLabelDeviceAskedFreeAndTotal) {
  const DeviceHandle handle = open();
  const Status status =
      device().allocate(handle.generation, MemoryKind::device, std::size_t{1} << 49, "temperature").status();
  EXPECT_EQ(status.code(), Code::out_of_memory);
  EXPECT_THAT(status.text(), AllOf(HasSubstr("temperature"), HasSubstr("fake:0"), HasSubstr("562949953421312"),
                                   HasSubstr("1073741824")));
  const Status overflow = device().allocate(handle.generation, MemoryKind::device, SIZE_MAX - 8, "x").status();
  EXPECT_EQ(overflow.code(), Code::out_of_memory);
  EXPECT_OK(device().deallocate(handle.generation, allocate(handle, 1 << 20)));
}

TEST_F(RuntimeTest, AFullDeviceTakesBackWhatTheOtherPoolCaches) {
  backend.memory_bytes = std::size_t{64} << 20;
  const DeviceHandle handle = open();
  void* pinned = device().allocate(handle.generation, MemoryKind::pinned, std::size_t{48} << 20, "staging").value();
  EXPECT_OK(device().deallocate(handle.generation, pinned));
  EXPECT_GT(device().status().cached_bytes, std::size_t{48} << 20);
  EXPECT_OK(device().deallocate(handle.generation, allocate(handle, std::size_t{40} << 20)));
}

TEST_F(RuntimeTest, ForeignAndFreedMemoryIsRefused) {
  const DeviceHandle first = open(0);
  const DeviceHandle second = open(1);
  auto* memory = static_cast<char*>(allocate(first, 1000));
  int foreign = 0;
  EXPECT_EQ(device(0).deallocate(first.generation, &foreign).code(), Code::invalid_argument);
  EXPECT_EQ(device(0).deallocate(first.generation, memory + 8).code(), Code::invalid_argument);
  EXPECT_EQ(device(1).deallocate(second.generation, memory).code(), Code::invalid_argument);
  EXPECT_OK(device(0).deallocate(first.generation, memory));
  EXPECT_EQ(device(0).deallocate(first.generation, memory).code(), Code::invalid_argument);
  EXPECT_OK(device(0).deallocate(first.generation, nullptr));
}

TEST_F(RuntimeTest, AnAddressIsFoundByItsAllocation) {
  const DeviceHandle handle = open(1);
  auto* memory = static_cast<char*>(allocate(handle, 1000));
  Allocation found;
  ASSERT_TRUE(runtime->find_allocation(memory + 999, found));
  EXPECT_EQ(found.device, handle);
  EXPECT_EQ(found.base, memory);
  EXPECT_EQ(found.bytes, 1000U);
  EXPECT_FALSE(runtime->find_allocation(&found, found));
  EXPECT_OK(device(1).deallocate(handle.generation, memory));
  EXPECT_FALSE(runtime->find_allocation(memory, found));
}

TEST_F(RuntimeTest, TrimGivesBackWhatIsCached) {
  const DeviceHandle handle = open();
  EXPECT_OK(device().deallocate(handle.generation, allocate(handle, 1 << 22)));
  EXPECT_GE(device().status().cached_bytes, std::size_t{1} << 22);
  EXPECT_GE(device().trim(handle.generation).value(), std::size_t{1} << 22);
  EXPECT_EQ(device().status().cached_bytes, 0U);
}

TEST_F(RuntimeTest, ConfigurationComesBeforeFirstUse) {
  Runtime::Configuration configuration;
  configuration.request.device_id = 1;
  configuration.request.device_id_name = "--kokkos-device-id";
  EXPECT_OK(runtime->configure(configuration));
  EXPECT_EQ(runtime->default_device().value().reason, "fake:1 because --kokkos-device-id=1, GANTRY_DEVICES unset");
  EXPECT_EQ(runtime->configure(configuration).code(), Code::busy);
}

TEST_F(RuntimeTest, SettingsThatDoNotParseAreTheErrorOfEveryCall) {
  settings.devices = "2,junk,1";
  start();
  for (const Status& status :
       {runtime->devices().status(), runtime->default_device().status(), runtime->open(0).status()}) {
    EXPECT_EQ(status.code(), Code::invalid_argument);
    EXPECT_THAT(status.text(), HasSubstr("'junk'"));
  }
  EXPECT_OK(runtime->close_all());
  EXPECT_OK(runtime->fence_all());
}

TEST_F(RuntimeTest, EventsOfAClosedDeviceAreOver) {
  const DeviceHandle handle = open();
  const QueueRef queue = create_queue(handle);
  const EventRef event = device().create_event(handle.generation, "event").value();
  backend.driver.hold();
  EXPECT_OK(queue.record(event));
  EXPECT_FALSE(event.ready());
  backend.driver.let_go();
  EXPECT_OK(event.sync());
  EXPECT_TRUE(event.ready());
  const LogCapture quiet;
  EXPECT_OK(runtime->close(0, CloseMode::force));
  EXPECT_TRUE(event.ready());
  EXPECT_OK(event.sync());
  EXPECT_OK(default_queue(open(1)).wait(event));
  EXPECT_EQ(default_queue(open(1)).record(event).code(), Code::invalid_argument);
  EXPECT_EQ(default_queue(open(0)).record(event).code(), Code::stale_handle);
}

}  // namespace
}  // namespace gantry::test
