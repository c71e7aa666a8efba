// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/kokkos/Gantry_Kokkos.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using gantry::Offload;
using gantry::OffloadPinnedSpace;
using gantry::OffloadSpace;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

/// A tool: what Kokkos tells it, one line an event.
std::vector<std::string>* g_events = nullptr;

std::string where(std::uint32_t id) {
  const auto space = Kokkos::Tools::Experimental::identifier_from_devid(id);
  return "device " + std::to_string(space.device_id) + " instance " + std::to_string(space.instance_id);
}

class ToolsTest : public testing::Test {
 protected:
  void SetUp() override {
    using namespace Kokkos::Tools::Experimental;
    g_events = &m_events;
    set_allocate_data_callback(
        [](Kokkos::Tools::SpaceHandle space, const char* label, const void*, std::uint64_t bytes) {
          g_events->push_back("allocate " + std::string(space.name) + " " + label + " " + std::to_string(bytes));
        });
    set_deallocate_data_callback(
        [](Kokkos::Tools::SpaceHandle space, const char* label, const void*, std::uint64_t bytes) {
          g_events->push_back("deallocate " + std::string(space.name) + " " + label + " " + std::to_string(bytes));
        });
    set_begin_parallel_for_callback([](const char* name, std::uint32_t id, std::uint64_t* kernel) {
      *kernel = 1;
      g_events->push_back("for " + std::string(name) + " " + where(id));
    });
    set_begin_fence_callback([](const char* name, std::uint32_t id, std::uint64_t* fence) {
      *fence = 1;
      g_events->push_back("fence " + std::string(name) + " " + where(id));
    });
    set_begin_deep_copy_callback([](Kokkos::Tools::SpaceHandle to, const char* to_label, const void*,
                                    Kokkos::Tools::SpaceHandle from, const char* from_label, const void*,
                                    std::uint64_t bytes) {
      g_events->push_back("copy " + std::string(to.name) + " " + to_label + " " + from.name + " " + from_label + " " +
                          std::to_string(bytes));
    });
  }
  void TearDown() override {
    using namespace Kokkos::Tools::Experimental;
    set_allocate_data_callback(nullptr);
    set_deallocate_data_callback(nullptr);
    set_begin_parallel_for_callback(nullptr);
    set_begin_fence_callback(nullptr);
    set_begin_deep_copy_callback(nullptr);
    g_events = nullptr;
  }

  std::vector<std::string> m_events;
};

TEST_F(ToolsTest, AllocationsNameSpaceLabelAndSize) {
  const Offload exec;
  {
    const Kokkos::View<double*, OffloadSpace> device(Kokkos::view_alloc(Kokkos::WithoutInitializing, "device"), 100);
    const Kokkos::View<int*, OffloadPinnedSpace> pinned(Kokkos::view_alloc(Kokkos::WithoutInitializing, "pinned"), 10);
    EXPECT_THAT(m_events, ElementsAre("allocate OffloadSpace device 800", "allocate OffloadPinnedSpace pinned 40"));
    m_events.clear();
  }
  EXPECT_THAT(m_events, Contains("deallocate OffloadSpace device 800"));
  EXPECT_THAT(m_events, Contains("deallocate OffloadPinnedSpace pinned 40"));
}

TEST_F(ToolsTest, FencesAreNamedAndSayWhichInstance) {
  const Offload exec(0);
  const std::string id = "device 0 instance " + std::to_string(exec.impl_instance_id());
  exec.fence("my fence");
  exec.fence();
  EXPECT_THAT(m_events,
              ElementsAre("fence my fence " + id, "fence gantry::Offload::fence: Unnamed Instance Fence " + id));
  m_events.clear();
  Kokkos::fence("global");
  EXPECT_THAT(m_events, Contains(HasSubstr("fence global")));
}

TEST_F(ToolsTest, KernelsSayWhichInstance) {
  const Offload exec(0);
  Kokkos::parallel_for("kernel", Kokkos::RangePolicy<Offload>(exec, 0, 1), KOKKOS_LAMBDA(int){});
  exec.fence();
  EXPECT_THAT(m_events, Contains("for kernel device 0 instance " + std::to_string(exec.impl_instance_id())));
}

TEST_F(ToolsTest, CopiesNameBothSides) {
  const Kokkos::View<int*, OffloadSpace> view("view", 10);
  const Kokkos::View<int*, Kokkos::HostSpace> host("host", 10);
  Kokkos::deep_copy(view, host);
  EXPECT_THAT(m_events, Contains("copy OffloadSpace view Host host 40"));
}

TEST_F(ToolsTest, InitialisationIsSeenAsAKernel) {
  const Offload exec(0);
  const Kokkos::View<int*, OffloadSpace> view(Kokkos::view_alloc(exec, "view"), 10);
  EXPECT_THAT(m_events, Contains(HasSubstr("for Kokkos::View::initialization [view] via memset device 0 instance " +
                                           std::to_string(exec.impl_instance_id()))));
  exec.fence();
}

}  // namespace
