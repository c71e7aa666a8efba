// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/kokkos/Gantry_Kokkos.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <sstream>
#include <thread>
#include <vector>

namespace {

using gantry::Offload;
using gantry::OffloadPinnedSpace;
using gantry::OffloadSpace;
using testing::HasSubstr;

static_assert(sizeof(Offload) <= 2 * sizeof(void*));
static_assert(Kokkos::Impl::check_valid_execution_space<Offload>() && Kokkos::Impl::check_is_regular<Offload>());
static_assert(std::is_same_v<Kokkos::DefaultExecutionSpace, Offload>);
static_assert(!std::is_same_v<Kokkos::DefaultHostExecutionSpace, Offload>);
static_assert(std::is_same_v<Kokkos::SharedSpace, OffloadPinnedSpace>);
static_assert(std::is_same_v<Kokkos::SharedHostPinnedSpace, OffloadPinnedSpace>);
static_assert(std::is_same_v<Offload::array_layout, Kokkos::LayoutRight>);
static_assert(!Kokkos::SpaceAccessibility<Kokkos::HostSpace, OffloadSpace>::accessible);
static_assert(!Kokkos::SpaceAccessibility<Offload, Kokkos::HostSpace>::accessible);
static_assert(Kokkos::SpaceAccessibility<Offload, OffloadPinnedSpace>::accessible);
static_assert(Kokkos::SpaceAccessibility<Kokkos::HostSpace, OffloadPinnedSpace>::accessible);
static_assert(Kokkos::SpaceAccessibility<Offload, Offload::scratch_memory_space>::accessible);

TEST(OffloadTest, DefaultInstancesShareOneQueue) {
  const Offload a;
  const Offload b;
  EXPECT_EQ(a, b);
  EXPECT_EQ(a.impl_instance_id(), b.impl_instance_id());
}

TEST(OffloadTest, CopiesAreEqualAndMovedFromInstancesStayUsable) {
  Offload a(0);
  const Offload b = a;
  EXPECT_EQ(a, b);
  const Offload c = std::move(a);
  EXPECT_EQ(c, b);
  EXPECT_EQ(a, b);
}

TEST(OffloadTest, InstanceOfADeviceHasAQueueOfItsOwn) {
  const Offload a(0);
  const Offload b(0);
  EXPECT_NE(a, b);
  EXPECT_NE(a, Offload());
  EXPECT_EQ(a.device(), Offload().device());
  EXPECT_NE(a.impl_instance_id(), b.impl_instance_id());
}

TEST(OffloadTest, ANativeQueueAndTheInstanceThatWrapsItEndInAnyOrder) {
  const gantry::DeviceHandle device = Offload().device();
  for (const bool native_first : {true, false}) {
    std::optional<gantry::QueueRef> native = gantry::create_queue(device, "native").value();
    std::optional<Offload> wrapped(*native);
    native_first ? native.reset() : wrapped.reset();
    const gantry::QueueRef& queue = native_first ? wrapped->queue() : *native;
    EXPECT_EQ(queue.label(), "native");
    EXPECT_TRUE(queue.sync().ok());
    if (wrapped) wrapped->fence();
  }
  const Offload of_nothing{gantry::QueueRef()};
  try {
    of_nothing.fence();
    FAIL() << "no error";
  } catch (const gantry::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("queue reference is empty"));
  }
}

TEST(OffloadTest, DeviceThatDoesNotExistIsNamed) {
  try {
    const Offload instance(99);
    FAIL() << "no error";
  } catch (const gantry::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("99"));
  }
  EXPECT_THROW(Offload(-1), gantry::Error);
}

TEST(OffloadTest, FencesReturnWhenNothingWasLaunched) {
  const Offload instance(0);
  instance.fence();
  instance.fence("a name");
  Kokkos::fence("all");
}

TEST(OffloadTest, ConcurrencyIsTheNumberOfThreadsOfTheDevice) {
  const auto devices = gantry::devices();
  ASSERT_TRUE(devices.ok());
  const Offload instance;
  EXPECT_EQ(instance.concurrency(), (*devices.value().begin()).info.concurrency);
  EXPECT_GE(instance.concurrency(), 1);
}

TEST(OffloadTest, ThreadOutsideOfKernelsHasSlotZero) {
  EXPECT_EQ(Offload::impl_hardware_thread_id(), 0);
}

TEST(OffloadTest, InstancesWorkInAFreshThread) {
  const Offload instance(0);
  Kokkos::View<int*, OffloadSpace> view(Kokkos::view_alloc(instance, "view"), 10);
  std::thread([&] {
    Kokkos::deep_copy(instance, view, 7);
    instance.fence();
  }).join();
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  EXPECT_EQ(host(9), 7);
}

TEST(OffloadTest, ConfigurationSaysWhichDeviceAndWhy) {
  std::ostringstream brief;
  std::ostringstream verbose;
  Offload().print_configuration(brief);
  Offload().print_configuration(verbose, true);
  EXPECT_THAT(brief.str(), HasSubstr("default device: host"));
  EXPECT_THAT(brief.str(), HasSubstr("threads"));
  EXPECT_THAT(brief.str(), HasSubstr("cpus"));
  EXPECT_GT(verbose.str().size(), brief.str().size());
}

TEST(OffloadTest, ToolIdentifiersHoldDeviceAndInstance) {
  using namespace Kokkos::Tools::Experimental;
  const Offload instance(0);
  const ExecutionSpaceIdentifier id = identifier_from_devid(device_id(instance));
  EXPECT_EQ(id.type, DeviceType::Unknown);
  EXPECT_EQ(id.device_id, 0U);
  EXPECT_EQ(id.instance_id, instance.impl_instance_id());
}

TEST(PartitionSpaceTest, EveryPartHasAQueueOfItsOwnOnTheDevice) {
  const auto parts = Kokkos::Experimental::partition_space(Offload(), 1, 2, 3);
  EXPECT_NE(parts[0], parts[1]);
  EXPECT_NE(parts[1], parts[2]);
  EXPECT_NE(parts[0], Offload());
  for (const Offload& part : parts) EXPECT_EQ(part.device(), Offload().device());
}

TEST(PartitionSpaceTest, VectorsOfWeightsWork) {
  const auto parts = Kokkos::Experimental::partition_space(Offload(), std::vector<double>{0.5, 1.5});
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_NE(parts[0], parts[1]);
  EXPECT_TRUE(Kokkos::Experimental::partition_space(Offload(), std::vector<int>{}).empty());
}

TEST(PartitionSpaceTest, WeightsMustBePositive) {
  using Kokkos::Experimental::partition_space;
  EXPECT_THROW(partition_space(Offload(), 1, 0), gantry::Error);
  EXPECT_THROW(partition_space(Offload(), std::vector<double>{1, -2}), gantry::Error);
  EXPECT_THROW(partition_space(Offload(), std::vector<double>{std::numeric_limits<double>::quiet_NaN()}),
               gantry::Error);
}

}  // namespace
