// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/core/selection.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace gantry {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::Not;

DeviceInfo device(const std::string& backend, int ordinal, const std::string& uuid = "", const std::string& pci = "") {
  DeviceInfo info;
  info.backend = backend;
  info.ordinal = ordinal;
  info.name = backend + ":" + std::to_string(ordinal);
  info.uuid = uuid;
  info.pci = pci;
  return info;
}

BackendReport report(const std::string& name, std::vector<DeviceInfo> devices,
                     const std::string& reason = "it is there") {
  return {name, true, {!devices.empty(), reason}, std::move(devices)};
}

/// Two host devices.
SelectionInput hosts() {
  SelectionInput input;
  input.backends = {report("host", {device("host", 0), device("host", 1)})};
  return input;
}

/// One host device, named as a single one is.
SelectionInput host() {
  SelectionInput input;
  input.backends = {report("host", {device("host", 0)})};
  input.backends[0].devices[0].name = "host";
  return input;
}

/// Two GPUs before one host device.
SelectionInput gpus() {
  SelectionInput input = host();
  input.backends.insert(
      input.backends.begin(),
      report("cuda", {device("cuda", 0, "GPU-1234abcd-0000-0000-0000-000000000000", "0000:3b:00.0"),
                      device("cuda", 1, "GPU-1234ffff-0000-0000-0000-000000000000", "0000:AF:00.0")}));
  return input;
}

/// The selection with GANTRY_DEVICES as given.
Result<Selection> select(SelectionInput input, std::string_view devices) {
  Result<DeviceNames> names = parse_devices(devices);
  if (!names.ok()) return names.status();
  input.devices = *std::move(names);
  return select_devices(std::move(input));
}

std::vector<std::string> usable(const Selection& selection) {
  std::vector<std::string> names;
  for (const Selection::Device& entry : selection.devices) {
    if (entry.id) names.push_back(entry.info.name);
  }
  return names;
}

struct Accepted {
  SelectionInput (*machine)();
  std::string devices;
  std::vector<std::string> usable;
};

TEST(SelectionTest, AcceptsEveryFormInItsOrder) {
  const std::vector<Accepted> table{
      {hosts, "0", {"host:0"}},
      {hosts, "1,0", {"host:1", "host:0"}},
      {hosts, " 1 ,\thost:0", {"host:1", "host:0"}},
      {hosts, "host", {"host:0", "host:1"}},
      {host, "host", {"host"}},
      {host, "host:0", {"host"}},
      {gpus, "cuda,host", {"cuda:0", "cuda:1", "host"}},
      {gpus, "2,1", {"host", "cuda:1"}},
      {gpus, "cuda:1", {"cuda:1"}},
      {gpus, "GPU-1234ffff", {"cuda:1"}},
      {gpus, "GPU-1234abcd-0000-0000-0000-000000000000", {"cuda:0"}},
      {gpus, "0000:af:00.0", {"cuda:1"}},
      {gpus, "00000000:3B:00.0,host", {"cuda:0", "host"}},
      {gpus, "af:00.0", {"cuda:1"}},
  };
  for (const Accepted& row : table) {
    const Result<Selection> selection = select(row.machine(), row.devices);
    ASSERT_TRUE(selection.ok()) << row.devices << ": " << selection.status().message();
    EXPECT_THAT(usable(selection.value()), ElementsAreArray(row.usable)) << row.devices;
  }
}

struct Refused {
  SelectionInput (*machine)();
  std::string devices;
  std::string token;  ///< what the error must name
  std::string reason;
};

TEST(SelectionTest, NamesTheOffendingEntryAndWhatExists) {
  const std::string forms = "a device name (host, host:1, cuda:0), a number";
  const std::string existing = "the devices that exist are 0 = host:0, 1 = host:1";
  const std::vector<Refused> table{
      {hosts, "0,0", "'0' repeats device host:0", existing},
      {hosts, "1,host", "'host' repeats device host:1", existing},
      {hosts, "99", "'99' is out of range", existing},
      {hosts, "99999999999999999999", "'99999999999999999999' is out of range", existing},
      {hosts, "host:2", "'host:2' is out of range", existing},
      {hosts, "host:99999999999999999999", "is out of range", existing},
      {hosts, "-1", "'-1' is no device", forms},
      {hosts, "foo", "'foo' names no backend of this Gantry (it has host)", existing},
      {hosts, "", "it is empty", forms},
      {hosts, " ", "an entry is empty", forms},
      {hosts, "0,", "an entry is empty", forms},
      {hosts, "1;2", "'1;2' is no device", "separated by commas"},
      {hosts, "2,junk!,1", "'junk!' is no device", forms},
      {hosts, "2,junk,1", "'junk' names no backend of this Gantry (it has host)", existing},
      {hosts, "0,2,1", "'2' is out of range", existing},
      {hosts, "host:", "'host:' is no device", forms},
      {hosts, "host:x", "'host:x' is no device", forms},
      {hosts, "HOST", "'HOST' is no device", forms},
      {hosts, "host:0\x1b[31m", "'host:0\\x1b[31m' is no device", forms},
      {hosts, "cuda:0", "'cuda:0' names no backend of this Gantry (it has host)", existing},
      {hosts, "GPU-12345678", "'GPU-12345678' names no device of this machine", existing},
      {hosts, "0000:3b:00.0", "'0000:3b:00.0' names no device of this machine", existing},
      {gpus, "MIG-aaaa", "'MIG-aaaa' names no device of this machine", "2 = host"},
      {gpus, "GPU-1234", "'GPU-1234' fits 2 devices", "0 = cuda:0"},
      {gpus, "GPU-", "'GPU-' is no device", forms},
      {gpus, "cuda:2", "'cuda:2' is out of range", "1 = cuda:1"},
  };
  for (const Refused& row : table) {
    const Status status = select(row.machine(), row.devices).status();
    EXPECT_EQ(status.code(), Code::invalid_argument) << row.devices;
    EXPECT_THAT(status.text(), AllOf(HasSubstr("GANTRY_DEVICES="), HasSubstr(row.token), HasSubstr(row.reason)));
  }
}

TEST(SelectionTest, ABackendThatIsNotAvailableSaysWhy) {
  SelectionInput input = hosts();
  input.backends.insert(input.backends.begin(), report("cuda", {}, "libcuda.so.1 was not found"));
  EXPECT_THAT(select(input, "cuda:0").status().text(),
              HasSubstr("'cuda:0' is not available: libcuda.so.1 was not found"));
}

struct Choice {
  SelectionInput (*machine)();
  std::optional<std::string> devices;
  std::optional<int> device_id;
  DeviceRequest::MapBy map_by;
  std::optional<std::string> local_rank;
  DeviceId id;
  std::string reason;
};

TEST(SelectionTest, TheDefaultExplainsItself) {
  constexpr auto by_rank = DeviceRequest::MapBy::local_rank;
  constexpr auto at_random = DeviceRequest::MapBy::random;
  const std::vector<Choice> table{
      {host, {}, {}, by_rank, {}, 0, "host because no GPU is a candidate, GANTRY_DEVICES unset"},
      {host, "host", {}, by_rank, "3", 0, "host because it is the only one, GANTRY_DEVICES=host"},
      {hosts, {}, {}, by_rank, {}, 0, "host:0 because it is the first of 2 devices, GANTRY_DEVICES unset"},
      {hosts, {}, {}, by_rank, "5", 1, "host:1 because local rank 5 % 2 devices, GANTRY_DEVICES unset"},
      {hosts, "1,0", {}, by_rank, "5", 1, "host:0 because local rank 5 % 2 devices, GANTRY_DEVICES=1,0"},
      {hosts, "1,0", 0, by_rank, "5", 0, "host:1 because --id=0, GANTRY_DEVICES=1,0"},
      {hosts, {}, {}, at_random, "5", 1, "host:1 because of a random choice among 2 devices, GANTRY_DEVICES unset"},
      {gpus, {}, {}, by_rank, {}, 0, "cuda:0 because it is the first of 2 devices, GANTRY_DEVICES unset"},
      {gpus, {}, {}, by_rank, "2", 0, "cuda:0 because local rank 2 % 2 devices, GANTRY_DEVICES unset"},
      {hosts, {}, 1, by_rank, "junk", 1, "host:1 because --id=1, GANTRY_DEVICES unset"},
      {hosts, "0", {}, by_rank, "junk", 0, "host:0 because it is the only one, GANTRY_DEVICES=0"},
      {hosts, "0,\t1", {}, by_rank, {}, 0, "host:0 because it is the first of 2 devices, GANTRY_DEVICES=0,\\x091"},
      {gpus, {}, 2, by_rank, {}, 2, "host because --id=2, GANTRY_DEVICES unset"},
  };
  for (const Choice& row : table) {
    SelectionInput input = row.machine();
    input.request = {row.device_id, row.map_by, "--id"};
    if (row.local_rank) input.local_rank = LocalRank{"SLURM_LOCALID", *row.local_rank};
    input.random = 7;
    const Result<Selection> selection =
        row.devices ? select(std::move(input), *row.devices) : select_devices(std::move(input));
    ASSERT_TRUE(selection.ok()) << selection.status().message();
    EXPECT_EQ(selection.value().choice.id, row.id) << row.reason;
    EXPECT_EQ(selection.value().choice.reason, row.reason);
  }
}

TEST(SelectionTest, ALocalRankThatIsNoNumberIsAnErrorWhereItDecides) {
  for (const char* text : {"x", "-1", "1 ", "99999999999", "1\x1b[2J"}) {
    SelectionInput input = hosts();
    input.local_rank = LocalRank{"SLURM_LOCALID", text};
    const Status status = select_devices(std::move(input)).status();
    EXPECT_EQ(status.code(), Code::invalid_argument);
    EXPECT_THAT(status.text(),
                AllOf(HasSubstr("SLURM_LOCALID='"), HasSubstr("a number from 0"), Not(HasSubstr("\x1b"))));
  }
}

TEST(SelectionTest, TheLocalRankIsThatOfTheFirstLauncherThatSaysOne) {
  ::unsetenv("OMPI_COMM_WORLD_LOCAL_RANK");
  ::setenv("SLURM_LOCALID", "", 1);
  ::setenv("PMI_LOCAL_RANK", "3", 1);
  const std::optional<LocalRank> rank = local_rank_from_environment();
  ::setenv("PMI_LOCAL_RANK", "", 1);
  EXPECT_FALSE(local_rank_from_environment());
  ::unsetenv("SLURM_LOCALID");
  ::unsetenv("PMI_LOCAL_RANK");
  ASSERT_TRUE(rank);
  EXPECT_EQ(rank->variable, "PMI_LOCAL_RANK");
  EXPECT_EQ(rank->text, "3");
}

TEST(SelectionTest, ADeviceIdOutOfRangeIsAnError) {
  for (const int id : {-1, 2, 99}) {
    SelectionInput input = hosts();
    input.request.device_id = id;
    input.request.device_id_name = "--kokkos-device-id";
    const Status status = select_devices(std::move(input)).status();
    EXPECT_EQ(status.code(), Code::invalid_argument);
    EXPECT_EQ(status.text(), "--kokkos-device-id=" + std::to_string(id) +
                                 " is out of range; the usable devices are 0 = host:0, 1 = host:1");
  }
}

TEST(SelectionTest, WhatIsLeftOutSaysSo) {
  const Selection selection = select(hosts(), "1").value();
  ASSERT_EQ(selection.devices.size(), 2U);
  EXPECT_EQ(selection.usable(), 1);
  EXPECT_EQ(selection.devices[0].id, 0);
  EXPECT_EQ(selection.devices[1].info.name, "host:0");
  EXPECT_FALSE(selection.devices[1].id.has_value());
  EXPECT_EQ(selection.devices[1].reason, "left out by GANTRY_DEVICES=1");
}

TEST(SelectionTest, RequireGpuRefusesTheHostAndSaysWhatIsMissing) {
  SelectionInput input = host();
  input.require_gpu = true;
  EXPECT_EQ(select_devices(input).status().code(), Code::unavailable);
  EXPECT_THAT(select_devices(input).status().text(), HasSubstr("this Gantry was built without a GPU backend"));
  input.backends.insert(input.backends.begin(),
                        {"cuda", false, {false, "not probed: the program has no device code for it"}, {}});
  EXPECT_THAT(select_devices(input).status().text(), HasSubstr("cuda: not probed: the program has no device code"));
  input = gpus();
  input.require_gpu = true;
  EXPECT_TRUE(select_devices(input).ok());
  EXPECT_EQ(select(input, "host").status().code(), Code::unavailable);
}

TEST(SelectionTest, NoDeviceAtAllIsAnError) {
  EXPECT_EQ(select_devices(SelectionInput()).status().code(), Code::unavailable);
}

TEST(SelectionTest, AnyTextIsAcceptedOrRefused) {
  std::mt19937 random(1);
  constexpr std::string_view alphabet = "0123456789,:.;-abcdefGPUMIhost \t\n\"'\xff";
  for (int round = 0; round < 20000; ++round) {
    std::string text(random() % 12, ' ');
    for (char& c : text) c = alphabet[random() % alphabet.size()];
    const Result<Selection> selection = select(gpus(), text);
    if (selection.ok()) {
      EXPECT_GT(selection.value().usable(), 0) << text;
    } else {
      EXPECT_THAT(selection.status().text(), HasSubstr("GANTRY_DEVICES=")) << text;
    }
  }
}

}  // namespace
}  // namespace gantry
