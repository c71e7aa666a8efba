// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/settings.hpp>
#include <gantry/core/backend.hpp>
#include <gantry/core/cpu_set.hpp>

#include <string>
#include <vector>

namespace gantry::host {

/// The part of the process's CPUs that one host device has.
struct Place {
  std::string name;  ///< "host" for the only one, else "host:0", "host:1", ...
  int ordinal = 0;
  CpuSet cpus;
  int slots = 1;
  bool shares_cpus =
      false;         ///< with other devices, or its threads with each other or with the program's: none may spin
  std::string part;  ///< of what: "node 0", "all CPUs"
};

/// Divides the process's CPUs among host devices as GANTRY_HOST_DEVICES says: one device, one a NUMA node or package
/// (of those that the process's mask touches), or so many parts, which share CPUs when there are more devices than
/// CPUs. Threads are divided like CPUs; every device has at least one. `sys`: where sysfs is.
[[nodiscard]] std::vector<Place> place_devices(const ProcessResources& resources, const Settings& settings,
                                               const std::string& sys = "/sys");

/// Where the thread that serves the devices' calls runs: near them, which is anywhere that the process may, or on those
/// of its CPUs that GANTRY_RPC_AFFINITY lists; an error when it may use none of them.
[[nodiscard]] Result<CpuSet> place_server(const ProcessResources& resources, const Settings& settings);

/// For DeviceInfo::place.
[[nodiscard]] std::string place_text(const Place& place, const ProcessResources& resources,
                                     const std::string& sys = "/sys");

}  // namespace gantry::host
