// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <backends/host/placement.hpp>

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

namespace gantry::host {
namespace {

/// A made-up machine's sysfs: nodes and packages of two CPUs each.
class PlacementTest : public testing::Test {
 protected:
  PlacementTest() {
    m_sys = std::filesystem::temp_directory_path() / ("gantry_placement_" + std::to_string(getpid()));
    write("devices/system/node/online", "0-1");
    for (int node = 0; node < 2; ++node)
      write("devices/system/node/node" + std::to_string(node) + "/cpulist", node == 0 ? "0-3" : "4-7");
    for (int cpu = 0; cpu < 8; ++cpu)
      write("devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/physical_package_id", std::to_string(cpu / 2));
    m_resources.cpus = *CpuSet::parse("0-7");
    m_resources.reason = "a test";
  }
  ~PlacementTest() override { std::filesystem::remove_all(m_sys); }

  std::vector<std::string> cpus() {
    std::vector<std::string> text;
    for (const Place& place : places()) text.push_back(place.cpus.to_string());
    return text;
  }
  std::vector<Place> places() { return place_devices(m_resources, m_settings, m_sys); }
  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((m_sys / path).parent_path());
    std::ofstream(m_sys / path) << text << '\n';
  }

  std::filesystem::path m_sys;
  ProcessResources m_resources;
  Settings m_settings;
};

using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(PlacementTest, OneDeviceHasTheWholeMask) {
  m_resources.cpus = *CpuSet::parse("1,3-4");
  const auto all = places();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].name, "host");
  EXPECT_EQ(all[0].cpus.to_string(), "1,3-4");
  EXPECT_EQ(all[0].slots, 3);
  EXPECT_FALSE(all[0].shares_cpus);
  EXPECT_THAT(place_text(all[0], m_resources, m_sys), HasSubstr("nodes 0-1"));
  EXPECT_THAT(place_text(all[0], m_resources, m_sys), HasSubstr("a test"));
}

TEST_F(PlacementTest, NodesArePartsOfTheMask) {
  m_settings.host_partition = HostPartition::numa;
  EXPECT_THAT(cpus(), ElementsAre("0-3", "4-7"));
  m_resources.cpus = *CpuSet::parse("2-5");
  EXPECT_THAT(cpus(), ElementsAre("2-3", "4-5"));
  m_resources.cpus = *CpuSet::parse("6");
  EXPECT_THAT(cpus(), ElementsAre("6"));
}

TEST_F(PlacementTest, PackagesArePartsOfTheMask) {
  m_settings.host_partition = HostPartition::package;
  EXPECT_THAT(cpus(), ElementsAre("0-1", "2-3", "4-5", "6-7"));
  m_resources.cpus = *CpuSet::parse("1-2,7");
  EXPECT_THAT(cpus(), ElementsAre("1", "2", "7"));
}

TEST_F(PlacementTest, EqualPartsAreDisjointWhileTheyCanBe) {
  m_settings.host_partition = HostPartition::count;
  m_settings.host_devices = 3;
  EXPECT_THAT(cpus(), ElementsAre("0-1", "2-4", "5-7"));
  EXPECT_EQ(places()[1].name, "host:1");
  m_settings.host_devices = 8;
  EXPECT_THAT(cpus(), ElementsAre("0", "1", "2", "3", "4", "5", "6", "7"));
  EXPECT_FALSE(places()[0].shares_cpus);
  m_resources.cpus = *CpuSet::parse("2-3");
  m_settings.host_devices = 3;
  EXPECT_THAT(cpus(), ElementsAre("2", "3", "2"));
  EXPECT_TRUE(places()[0].shares_cpus);
}

TEST_F(PlacementTest, ThreadsAreDividedAndOversubscriptionIsKnown) {
  m_resources.num_threads = 5;
  EXPECT_EQ(places()[0].slots, 5);
  m_settings.host_partition = HostPartition::numa;
  EXPECT_EQ(places()[0].slots + places()[1].slots, 5);
  m_resources.num_threads = 1;
  EXPECT_EQ(places()[0].slots, 1);
  EXPECT_EQ(places()[1].slots, 1);
  m_resources.num_threads = 10;
  EXPECT_TRUE(places()[0].shares_cpus);
}

TEST_F(PlacementTest, WorksWithoutSysfs) {
  m_sys += "_missing";
  m_settings.host_partition = HostPartition::numa;
  EXPECT_THAT(cpus(), ElementsAre("0-7"));
  m_settings.host_partition = HostPartition::package;
  EXPECT_THAT(cpus(), ElementsAre("0-7"));
}

}  // namespace
}  // namespace gantry::host
