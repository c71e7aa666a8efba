// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two devices in one process, Kokkos up. The default instance is on the first one.
#include <gantry/base/log.hpp>
#include <gantry/kokkos/Gantry_Kokkos.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace {

using gantry::Code;
using gantry::Offload;
using gantry::OffloadPinnedSpace;
using gantry::OffloadSpace;
using testing::HasSubstr;
using Host = Kokkos::HostSpace;

constexpr gantry::DeviceId devA = 0;
constexpr gantry::DeviceId devB = 1;

template <class View>
auto on_host(const View& view) {
  return Kokkos::create_mirror_view_and_copy(Host(), view);
}

gantry::DeviceId device_of(const void* address) {
  gantry::Allocation found;
  return gantry::find_allocation(address, found) ? found.device.id : -1;
}

class DevicesTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(Offload().device().id, devA);
    ASSERT_EQ(gantry::devices().value().size(), 2U);
  }
};

TEST_F(DevicesTest, InstanceDecidesWhereMemoryLies) {
  const Offload b(devB);
  const Kokkos::View<int*, OffloadSpace> view(Kokkos::view_alloc(b, "view"), 1000);
  EXPECT_EQ(device_of(view.data()), devB);
  Kokkos::parallel_for(
      Kokkos::RangePolicy<Offload>(b, 0, 1000), KOKKOS_LAMBDA(int i) { view(i) += i; });
  Kokkos::View<int*, Host> host("host", 1000);
  Kokkos::deep_copy(b, host, view);
  b.fence();
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(host(i), i);
}

TEST_F(DevicesTest, SpaceDecidesWhereMemoryLiesWithoutAnInstance) {
  const Kokkos::View<int*, OffloadSpace> view(Kokkos::view_alloc("view", OffloadSpace(devB)), 100);
  EXPECT_EQ(device_of(view.data()), devB);
  const Kokkos::View<int*, OffloadPinnedSpace> pinned(Kokkos::view_alloc("pinned", OffloadPinnedSpace(devB)), 100);
  EXPECT_EQ(device_of(pinned.data()), devB);
  const auto host = on_host(view);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(host(i), 0);
}

TEST_F(DevicesTest, ViewsOfAnotherDeviceAreFilledAndCopiedThere) {
  const Kokkos::View<double**, OffloadSpace> view(Kokkos::view_alloc("view", OffloadSpace(devB)), 20, 30);
  Kokkos::deep_copy(view, 2.5);
  Kokkos::deep_copy(Kokkos::subview(view, Kokkos::ALL, Kokkos::pair<int, int>(3, 5)), 7.5);
  const Kokkos::View<double, OffloadSpace> scalar(Kokkos::view_alloc("scalar", OffloadSpace(devB)));
  Kokkos::deep_copy(scalar, 1.25);
  double value = 0;
  Kokkos::deep_copy(value, scalar);
  EXPECT_EQ(value, 1.25);
  const auto host = on_host(view);
  for (int i = 0; i < 20; ++i)
    for (int j = 0; j < 30; ++j) ASSERT_EQ(host(i, j), j == 3 || j == 4 ? 7.5 : 2.5);
}

TEST_F(DevicesTest, ElementsOnAnotherDeviceAreConstructedAndDestroyedThere) {
  static std::atomic<int> alive;
  static std::atomic<const gantry::Queue*> queue_of_b;
  struct Counted {
    KOKKOS_FUNCTION Counted() { alive += gantry::execution_context()->queue == queue_of_b ? 1 : 0; }
    KOKKOS_FUNCTION ~Counted() { alive -= gantry::execution_context()->queue == queue_of_b ? 1 : 0; }
  };
  const Offload b(gantry::default_queue(Offload(devB).device()).value());
  Kokkos::parallel_for(
      Kokkos::RangePolicy<Offload>(b, 0, 1), KOKKOS_LAMBDA(int) { queue_of_b = gantry::execution_context()->queue; });
  b.fence();
  alive = 0;
  {
    const Kokkos::View<Counted*, OffloadSpace> view(Kokkos::view_alloc("counted", OffloadSpace(devB)), 100);
    EXPECT_EQ(alive, 100);
  }
  EXPECT_EQ(alive, 0);
}

TEST_F(DevicesTest, CopiesBetweenDevicesAreOrderedAfterTheInstance) {
  const Offload a(devA);
  const Offload b(devB);
  constexpr int n = 3'000'000;  // more than one piece of the way through the host
  const Kokkos::View<int*, OffloadSpace> on_a(Kokkos::view_alloc(a, "on a", Kokkos::WithoutInitializing), n);
  const Kokkos::View<int*, OffloadSpace> on_b(Kokkos::view_alloc(b, "on b"), n);
  b.fence();
  Kokkos::parallel_for(
      Kokkos::RangePolicy<Offload>(a, 0, n), KOKKOS_LAMBDA(int i) { on_a(i) = 5 * i; });
  Kokkos::deep_copy(a, on_b, on_a);
  Kokkos::View<int*, Host> host("host", n);
  Kokkos::deep_copy(b, host, on_b);
  b.fence();
  for (int i = 0; i < n; ++i) ASSERT_EQ(host(i), 5 * i);
  Kokkos::deep_copy(on_a, 0);
  Kokkos::deep_copy(on_a, on_b);
  Kokkos::deep_copy(host, on_a);
  for (int i = 0; i < n; ++i) ASSERT_EQ(host(i), 5 * i);
}

TEST_F(DevicesTest, CopiesBetweenDevicesConvertLayouts) {
  const Kokkos::View<int**, Kokkos::LayoutRight, OffloadSpace> on_a("on a", 11, 5);
  const Kokkos::View<int**, Kokkos::LayoutLeft, OffloadSpace> on_b(Kokkos::view_alloc("on b", OffloadSpace(devB)), 11,
                                                                   5);
  const auto numbers = Kokkos::create_mirror(on_a);
  for (int i = 0; i < 11; ++i)
    for (int j = 0; j < 5; ++j) numbers(i, j) = 10 * i + j;
  Kokkos::deep_copy(on_a, numbers);
  Kokkos::deep_copy(on_b, on_a);
  const auto host = on_host(on_b);
  for (int i = 0; i < 11; ++i)
    for (int j = 0; j < 5; ++j) ASSERT_EQ(host(i, j), 10 * i + j);
  EXPECT_EQ(gantry::leak_report().objects.size(), 2U);
}

TEST_F(DevicesTest, AnInstanceFillsMemoryOfAnotherDeviceInItsOwnOrder) {
  const Offload a(devA);
  const Kokkos::View<int*, OffloadSpace> on_b(Kokkos::view_alloc("on b", OffloadSpace(devB)), 1000);
  Kokkos::deep_copy(a, on_b, 8);
  a.fence();
  EXPECT_EQ(on_host(on_b)(999), 8);
}

TEST_F(DevicesTest, SpaceAndInstanceOfDifferentDevicesAreRefused) {
  for (const auto& [of_instance, of_space] : {std::pair(devA, devB), std::pair(devB, devA)}) {
    const Offload instance(of_instance);
    try {
      const Kokkos::View<int*, OffloadSpace> view(Kokkos::view_alloc(instance, "view", OffloadSpace(of_space)), 10);
      ADD_FAILURE() << "no error, the memory is on device " << device_of(view.data());
    } catch (const gantry::Error& error) {
      EXPECT_EQ(error.code(), Code::invalid_argument);
      EXPECT_THAT(error.what(), testing::AllOf(HasSubstr("\"view\" names device " + std::to_string(of_space)),
                                               HasSubstr("instance is on device " + std::to_string(of_instance))));
    }
  }
}

TEST_F(DevicesTest, SpaceMayNameAnyDeviceBesideTheDefaultInstance) {
  for (const gantry::DeviceId device : {devA, devB}) {
    const Kokkos::View<int*, OffloadSpace> view(Kokkos::view_alloc(Offload(), "view", OffloadSpace(device)), 10);
    EXPECT_EQ(device_of(view.data()), device);
  }
}

TEST_F(DevicesTest, MemoryOfANamedDeviceOpensNoOtherDevice) {
  ASSERT_TRUE(gantry::close_device(devA).ok());
  void* memory = OffloadSpace(devB).allocate(100);
  EXPECT_EQ(device_of(memory), devB);
  EXPECT_EQ(gantry::devices().value()[devA].state, gantry::DeviceState::closed);
  OffloadSpace(devB).deallocate(memory, 100);
}

TEST_F(DevicesTest, PartsOfAnInstanceStayOnItsDevice) {
  const auto parts = Kokkos::Experimental::partition_space(Offload(devB), 1, 1);
  EXPECT_EQ(parts[0].device().id, devB);
  EXPECT_EQ(parts[1].device().id, devB);
}

TEST_F(DevicesTest, ReallocatedMemoryStaysOnItsDevice) {
  const Kokkos::View<int*, OffloadSpace> keep(Kokkos::view_alloc("keep", OffloadSpace(devB)), 10);
  auto* record =
      Kokkos::Impl::SharedAllocationRecord<OffloadSpace, void>::allocate_tracked(OffloadSpace(devB), "m", 100);
  void* larger = Kokkos::kokkos_realloc<OffloadSpace>(record, 200);
  EXPECT_EQ(device_of(larger), devB);
  Kokkos::kokkos_free<OffloadSpace>(larger);
}

TEST_F(DevicesTest, ReallocationOfMemoryThatIsGoneThrowsAndLosesNothing) {
  using Record = Kokkos::Impl::SharedAllocationRecord<OffloadSpace, void>;
  void* memory = Record::allocate_tracked(OffloadSpace(devB), "m", 100);
  ASSERT_TRUE(gantry::close_device(devB, gantry::CloseMode::force).ok());
  EXPECT_THROW((void)Kokkos::kokkos_realloc<OffloadSpace>(memory, 1 << 20), gantry::Error);
  EXPECT_TRUE(gantry::leak_report().empty()) << gantry::leak_report().to_text();
  Kokkos::kokkos_free<OffloadSpace>(memory);
}

std::size_t entries(const char* directory) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(directory), {}));
}

std::size_t resident_pages() {
  std::ifstream file("/proc/self/statm");
  std::size_t size = 0;
  std::size_t resident = 0;
  file >> size >> resident;
  return resident;
}

TEST_F(DevicesTest, DeviceIsClosedAndOpenedAgainWhileKokkosIsUp) {
  // Every cycle forgets its instance on purpose: the reports are not for the reader of this test.
  gantry::set_log_callback([](gantry::LogLevel, std::string_view, void*) {}, nullptr);
  std::size_t threads = 0;
  std::size_t files = 0;
  [[maybe_unused]] std::size_t pages = 0;  // sanitizers keep freed memory
  for (int cycle = 0; cycle < 200; ++cycle) {
    if (cycle == 20) {
      threads = entries("/proc/self/task");
      files = entries("/proc/self/fd");
      pages = resident_pages();
    }
    const Offload b(devB);
    const gantry::DeviceHandle handle = b.device();
    Kokkos::View<int*, OffloadSpace> view(Kokkos::view_alloc(b, "view"), 100);
    Kokkos::parallel_for(
        Kokkos::RangePolicy<Offload>(b, 0, 100), KOKKOS_LAMBDA(int i) { view(i) = i; });
    b.fence();
    view = {};
    // The instance itself is held, so an unforced close says so.
    const gantry::Status refused = gantry::close_device(devB);
    ASSERT_EQ(refused.code(), Code::busy);
    ASSERT_TRUE(gantry::close_device(devB, gantry::CloseMode::force).ok());
    EXPECT_THROW(b.fence(), gantry::Error);
    ASSERT_FALSE(gantry::default_queue(handle).ok());
  }
  gantry::set_log_callback(nullptr, nullptr);
  EXPECT_EQ(entries("/proc/self/task"), threads);
  EXPECT_EQ(entries("/proc/self/fd"), files);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LE(resident_pages(), pages + 256);
#endif
  EXPECT_EQ(Offload(devB).device().id, devB);
}

TEST_F(DevicesTest, ViewsThatOutliveTheirDeviceTouchNothing) {
  static std::atomic<int> destroyed;
  struct Noisy {
    KOKKOS_FUNCTION Noisy() {}
    KOKKOS_FUNCTION ~Noisy() { ++destroyed; }
  };
  destroyed = 0;
  Kokkos::View<Noisy*, OffloadSpace> objects(Kokkos::view_alloc("objects", OffloadSpace(devB)), 10);
  Kokkos::View<int*, OffloadSpace> numbers(Kokkos::view_alloc("numbers", OffloadSpace(devB)), 10);
  ASSERT_TRUE(gantry::close_device(devB, gantry::CloseMode::force).ok());
  EXPECT_THROW(Kokkos::deep_copy(numbers, 1), gantry::Error);
  {
    // A new allocation in the next open period may get the same address: it must survive the old View's end.
    const Kokkos::View<int*, OffloadSpace> next(Kokkos::view_alloc("next", OffloadSpace(devB)), 10);
    Kokkos::deep_copy(next, 4);
    objects = {};
    numbers = {};
    EXPECT_EQ(destroyed, 0);
    EXPECT_EQ(on_host(next)(9), 4);
    ASSERT_EQ(gantry::leak_report().objects.size(), 1U);
  }
  EXPECT_TRUE(gantry::leak_report().empty());
}

TEST_F(DevicesTest, DefaultDeviceIsOpenedAgainByItsNextUse) {
  const Offload before;
  ASSERT_TRUE(gantry::close_device(devA).ok());
  EXPECT_THROW(before.fence(), gantry::Error);
  const Kokkos::View<int*, OffloadSpace> view("view", 10);
  Kokkos::deep_copy(view, 3);
  EXPECT_EQ(on_host(view)(0), 3);
  EXPECT_NE(before, Offload());
}

TEST_F(DevicesTest, InstanceMadeHereWorksInAFreshThread) {
  const Offload b(devB);
  std::thread([&] {
    const Kokkos::View<int*, OffloadSpace> view(Kokkos::view_alloc(b, "view"), 10);
    EXPECT_EQ(device_of(view.data()), devB);
    Kokkos::deep_copy(b, view, 2);
    b.fence();
    EXPECT_EQ(on_host(view)(5), 2);
  }).join();
}

TEST_F(DevicesTest, ThreadsThatFirstTouchAClosedDeviceOpenItOnce) {
  ASSERT_TRUE(gantry::close_device(devB).ok());
  std::vector<std::thread> threads;
  std::vector<gantry::DeviceHandle> handles(8);
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] { handles[static_cast<std::size_t>(i)] = Offload(devB).device(); });
  for (std::thread& thread : threads) thread.join();
  for (const gantry::DeviceHandle& handle : handles) EXPECT_EQ(handle, handles[0]);
}

}  // namespace
