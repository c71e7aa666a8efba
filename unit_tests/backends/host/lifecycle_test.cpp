// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <unit_tests/backends/host/host_fixture.hpp>
#include <unit_tests/support/no_new_threads.hpp>

#include <backends/host/backend.hpp>
#include <gantry/core/live_objects.hpp>
#include <gantry/core/runtime.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>

namespace gantry::test {
namespace {

using testing::ElementsAre;
using testing::Pair;

std::size_t entries(const char* folder) {
  const std::filesystem::directory_iterator first(folder);
  return static_cast<std::size_t>(std::distance(begin(first), end(first)));
}

/// What a file of each thread in /proc says, in its first line.
std::vector<std::string> of_threads(const char* file_name) {
  std::vector<std::string> lines;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(thread.path() / file_name);
    if (std::string line; std::getline(file, line)) lines.push_back(line);
  }
  return lines;
}

std::set<std::string> thread_names() {
  const auto names = of_threads("comm");
  return {names.begin(), names.end()};
}

std::size_t resident_pages() {
  std::ifstream file("/proc/self/statm");
  std::size_t size = 0;
  std::size_t resident = 0;
  file >> size >> resident;
  return resident;
}

/// The workers of a device with two slots, and the CPUs that they may run on.
std::map<std::string, std::string> cpus_of_workers(OpenHost& host) {
  Launch heavy;
  heavy.count = 2;
  heavy.heavy = true;
  std::mutex mutex;
  std::map<std::string, std::string> cpus;
  std::atomic<int> inside{0};
  Queue& queue = host.queue();
  EXPECT_OK(for_each(queue, heavy, [&](auto) {
    ++inside;
    await([&] { return inside == 2; });  // so both workers run a share
    char name[16] = {};
    pthread_getname_np(pthread_self(), name, sizeof(name));
    const std::lock_guard lock(mutex);
    cpus[name] = CpuSet::of_calling_thread().to_string();
  }));
  EXPECT_OK(queue.sync());
  return cpus;
}

void open_use_close() {
  OpenHost host(2);
  Queue& queue = host.queue();
  std::atomic<int> ran{0};
  EXPECT_OK(for_each(queue, 100, [&](auto) { ++ran; }));
  EXPECT_OK(queue.host_function([](void* n) { ++*static_cast<std::atomic<int>*>(n); }, &ran));
  EXPECT_OK(queue.sync());
  EXPECT_EQ(ran, 101);
}

TEST(LifecycleTest, ThousandCyclesLeaveNothing) {
  for (int i = 0; i < 100; ++i) open_use_close();
  const auto threads = entries("/proc/self/task");
  const auto files = entries("/proc/self/fd");
  const auto pages = resident_pages();
  for (int i = 0; i < 1000; ++i) open_use_close();
  EXPECT_EQ(entries("/proc/self/task"), threads);
  EXPECT_EQ(entries("/proc/self/fd"), files);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // these keep freed memory
  EXPECT_LE(resident_pages(), pages + 64);
#else
  static_cast<void>(pages);
#endif
}

TEST(LifecycleTest, ThreadsHaveNamesWhileTheDeviceIsOpen) {
  {
    OpenHost host(2);
    await([&] {
      const auto names = thread_names();
      return names.contains("gantry-host:0/0") && names.contains("gantry-host:0/1");
    });
  }
  for (const std::string& name : thread_names()) EXPECT_THAT(name, testing::Not(testing::StartsWith("gantry-")));
}

TEST(LifecycleTest, WorkersSleepWhenThereIsNothingToDo) {
  OpenHost host(3);
  Queue& queue = host.queue();
  for (int i = 0; i < 20; ++i) {
    EXPECT_OK(for_each(queue, 1000, [](auto) {}));
    EXPECT_OK(queue.sync());
    await([] {  // until no thread but this one runs or could run
      const auto states = of_threads("stat");
      return std::count_if(states.begin(), states.end(),
                           [](const std::string& state) { return state[state.rfind(')') + 2] == 'R'; }) <= 1;
    });
  }
}

TEST(LifecycleTest, WorkersStayInTheDevicesCpus) {
  host::EngineOptions options = host_options(2);
  const int cpu = options.cpus.cpus().back();
  options.cpus = CpuSet({cpu});
  options.spin = std::chrono::nanoseconds(0);
  for (const Bind bind : {Bind::device, Bind::core}) {  // fewer CPUs than slots: none is a worker's own
    options.bind = bind;
    OpenHost host(options);
    const std::string all = std::to_string(cpu);
    EXPECT_THAT(cpus_of_workers(host), ElementsAre(Pair("gantry-host:0/0", all), Pair("gantry-host:0/1", all)));
  }
}

TEST(LifecycleTest, WorkersHaveACpuOfTheirOwn) {
  host::EngineOptions options = host_options(2);
  if (options.cpus.size() < 2) GTEST_SKIP() << "the process has one CPU";
  options.cpus = CpuSet({options.cpus.cpus()[0], options.cpus.cpus()[1]});
  options.bind = Bind::core;
  OpenHost host(options);
  EXPECT_THAT(cpus_of_workers(host), ElementsAre(Pair("gantry-host:0/0", options.cpus.to_string()),
                                                 Pair("gantry-host:0/1", std::to_string(options.cpus.cpus()[1]))));
}

TEST(LifecycleTest, HostFunctionThatGetsNoThreadIsRefused) {
  OpenHost host(2);
  Queue& queue = host.queue();
  std::atomic<int> ran{0};
  const auto count = [](void* n) { ++*static_cast<std::atomic<int>*>(n); };
  {
    const NoNewThreads none;
    EXPECT_EQ(queue.host_function(count, &ran).code(), Code::driver_error);
    EXPECT_OK(queue.sync());
  }
  EXPECT_OK(queue.host_function(count, &ran));
  EXPECT_OK(queue.sync());
  EXPECT_EQ(ran, 1);
}

TEST(LifecycleTest, WorkersThatGetNoThreadLeaveNoneBehind) {
  const auto before = thread_names();
  {
    const NoNewThreads none;
    const auto opened = host::HostDevice::open(host_options(2), Protect::off, 1, test_server());
    EXPECT_EQ(opened.status().code(), Code::driver_error);
    EXPECT_THAT(opened.status().text(), testing::HasSubstr("worker thread 0 of host"));
  }
  EXPECT_EQ(thread_names(), before);
  open_use_close();
}

TEST(LifecycleTest, AFailedDeviceClosesAndItsPlaceOpensAgain) {
  for (int i = 0; i < 3; ++i) {
    {
      OpenHost host(2);
      Queue& queue = host.queue();
      Status status = for_each(queue, 2, [](auto) { throw 42; });
      if (status.ok()) status = queue.sync();
      EXPECT_EQ(status.code(), Code::kernel_error);
      EXPECT_EQ(queue.sync().code(), Code::kernel_error);
    }
    open_use_close();
  }
}

TEST(LifecycleTest, HostFunctionThatThrowsPoisonsTheDevice) {
  SKIP_IF_PAGES();
  OpenHost host(2);
  Queue& queue = host.queue();
  EXPECT_OK(queue.host_function([](void*) { throw std::runtime_error("no answer"); }, nullptr));
  const Status status = queue.sync();
  EXPECT_EQ(status.code(), Code::kernel_error);
  EXPECT_THAT(status.text(), testing::HasSubstr("host function"));
  EXPECT_THAT(status.text(), testing::HasSubstr("no answer"));
}

TEST(LifecycleTest, BackendOpensWhatItLists) {
  ProcessResources resources;
  resources.cpus = CpuSet::of_calling_thread();
  auto devices = host::backend().devices(resources);
  ASSERT_TRUE(devices.ok());
  for (DeviceInfo& info : *devices) {
    host::backend().describe(info, resources);
    EXPECT_GT(info.memory_bytes, 0U);
    EXPECT_NE(info.model, "");
    EXPECT_NE(info.place, "");
    EXPECT_GE(info.concurrency, 1);
    auto device = host::backend().open(info, resources);
    ASSERT_TRUE(device.ok()) << device.status().message();
    EXPECT_EQ((*device)->concurrency(), info.concurrency);
    EXPECT_OK((*device)->close());
  }
  DeviceInfo missing;
  missing.ordinal = 99;
  EXPECT_EQ(host::backend().open(missing, resources).status().code(), Code::not_found);
}

TEST(LifecycleTest, TheRuntimeDecidesWhatDevicesGet) {
  Settings said = *settings();
  LiveObjects live;
  for (const int threads : {3, 0}) {
    said.num_threads = threads;
    Runtime runtime({&host::backend()}, said, live);
    const auto devices = runtime.devices();
    ASSERT_TRUE(devices.ok()) << devices.status().message();
    int slots = 0;
    for (const DeviceStatus& device : *devices) slots += device.info.concurrency;
    EXPECT_EQ(slots, threads != 0 ? threads : CpuSet::of_calling_thread().size());
    EXPECT_THAT(devices->front().info.place, testing::HasSubstr("sched_getaffinity"));
  }
}

}  // namespace
}  // namespace gantry::test
