// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/core/gantry.hpp>
#include <unit_tests/support/launch.hpp>
#include <unit_tests/support/log_capture.hpp>
#include <unit_tests/support/runtime_fixture.hpp>

#include <gmock/gmock.h>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

namespace gantry::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class RuntimeTest : public RuntimeFixture {};

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

TEST_F(RuntimeTest, ALeaksFileThatCannotBeWrittenIsNamedWithTheReason) {
  const std::string fifo = ::testing::TempDir() + "gantry_fifo";
  ::unlink(fifo.c_str());
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  struct Bad {
    std::string path;
    const char* reason;
  };
  const std::string full = ::testing::TempDir() + "gantry_full";
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit none{0, limit.rlim_max};
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  for (const Bad& bad : {Bad{full, "File too large"}, Bad{fifo, "nobody reads this FIFO"},
                         Bad{"/absent/leaks", "No such file"}, Bad{"/absent/\x1b[2J", "'/absent/\\x1b[2J'"}}) {
    settings.leaks_file = bad.path;
    start();
    LogCapture log;
    allocate(open(), 11, "first");
    ::setrlimit(RLIMIT_FSIZE, &none);
    EXPECT_OK(runtime->close_all());
    ::setrlimit(RLIMIT_FSIZE, &limit);
    EXPECT_THAT(log.text(), AllOf(HasSubstr("cannot write GANTRY_LEAKS_FILE='"), HasSubstr(bad.reason)));
  }
  std::signal(SIGXFSZ, before);
  ::unlink(full.c_str());
  ::unlink(fifo.c_str());
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

TEST_F(RuntimeTest, MemoryFreedInsideAKernelOfAnotherDeviceMayOutliveItsPeriod) {
  const DeviceHandle here = open(0);
  const DeviceHandle elsewhere = open(1);
  void* memory = allocate(elsewhere, 1 << 22);
  EXPECT_OK(launch(default_queue(here), [&] {
    EXPECT_OK(device(1).deallocate(elsewhere.generation, memory));
    std::jthread([&] { EXPECT_OK(runtime->close(1, CloseMode::refuse_if_busy)); }).join();
    EXPECT_EQ(backend.driver.live().devices, 1);
  }));
  EXPECT_EQ(device(1).state(), DeviceState::closed);
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
  const Status later = launch(default_queue(bad), [] {});
  EXPECT_EQ(later.code(), Code::poisoned);
  EXPECT_THAT(later.text(), HasSubstr("boom"));
  EXPECT_OK(runtime->close(0, CloseMode::refuse_if_busy));
  EXPECT_OK(launch(default_queue(open(0)), [] {}));
}

TEST_F(RuntimeTest, AMistakeOnAPoisonedDeviceDoesNotHideItsError) {
  const DeviceHandle bad = open(0);
  const QueueRef queue = default_queue(bad);
  EXPECT_OK(launch(queue, [] { throw std::runtime_error("boom"); }));
  const auto elsewhere = device(1).create_event(open(1).generation, "elsewhere");
  EXPECT_EQ(queue.record(*elsewhere).code(), Code::invalid_argument);
  EXPECT_EQ(runtime->fence_all().code(), Code::kernel_error);
}

TEST_F(RuntimeTest, AWaitLeavesTheErrorOfTheWorkToBeTold) {
  const DeviceHandle bad = open(0);
  backend.driver.hold();
  EXPECT_OK(launch(default_queue(bad), [] { throw std::runtime_error("boom"); }));
  backend.driver.let_go();
  EXPECT_OK(runtime->wait_all());
  EXPECT_EQ(device(0).state(), DeviceState::poisoned) << "it did not wait";
  EXPECT_OK(runtime->wait_all());
  EXPECT_EQ(runtime->fence_all().code(), Code::kernel_error);
}

TEST_F(RuntimeTest, APoisonedDeviceGivesOutNothingNew) {
  const DeviceHandle bad = open(0);
  void* memory = allocate(bad, 100);
  EXPECT_OK(launch(default_queue(bad), [] { throw std::runtime_error("boom"); }));
  const Status first = device(0).allocate(bad.generation, MemoryKind::device, 100, "too late").status();
  EXPECT_EQ(first.code(), Code::kernel_error);
  EXPECT_THAT(first.text(), AllOf(HasSubstr("too late"), HasSubstr("boom")));
  EXPECT_EQ(device(0).allocate(bad.generation, MemoryKind::device, 100, "later").status().code(), Code::poisoned);
  EXPECT_EQ(device(0).create_queue(bad.generation, "later").status().code(), Code::poisoned);
  EXPECT_OK(device(0).deallocate(bad.generation, memory));
  EXPECT_OK(runtime->close(0, CloseMode::refuse_if_busy));
}

TEST_F(RuntimeTest, AnErrorThatOnlyWorkHasSeenIsStillToBeTold) {
  const DeviceHandle bad = open(0);
  EXPECT_OK(launch(default_queue(bad), [] { throw std::runtime_error("boom"); }));
  EXPECT_OK(launch(default_queue(open(1)), [&] {
    const Status seen = device(0).allocate(bad.generation, MemoryKind::device, 100, "in a kernel").status();
    EXPECT_EQ(seen.code(), Code::kernel_error);
  }));
  EXPECT_EQ(runtime->fence_all().code(), Code::kernel_error);
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

TEST_F(RuntimeTest, AKindOfMemoryThatDoesNotExistIsNamed) {
  for (const int kind : {2, 255}) {
    const Status status = gantry::allocate({0, 1}, static_cast<MemoryKind>(kind), 8, "x").status();
    EXPECT_EQ(status.code(), Code::invalid_argument);
    EXPECT_THAT(status.text(), AllOf(HasSubstr(std::to_string(kind)), HasSubstr("device")));
  }
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
