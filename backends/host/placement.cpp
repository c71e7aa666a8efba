// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <backends/host/placement.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>

namespace gantry::host {
namespace {

struct Part {
  CpuSet cpus;
  std::string what;  // "node 0"
};

std::optional<std::string> first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  return line;
}

/// The CPUs of a sysfs list; empty when there is none.
CpuSet list_in(const std::string& path) {
  const auto line = first_line(path);
  if (!line || line->empty()) return {};
  auto cpus = CpuSet::parse(*line);
  return cpus.ok() ? *std::move(cpus) : CpuSet();
}

std::vector<Part> nodes(const CpuSet& mask, const std::string& sys) {
  std::vector<Part> parts;
  const CpuSet online = list_in(sys + "/devices/system/node/online");  // the same form as a list of CPUs
  for (const int node : online.cpus()) {
    CpuSet cpus = list_in(fmt::format("{}/devices/system/node/node{}/cpulist", sys, node)).intersected(mask);
    if (!cpus.empty()) parts.push_back({std::move(cpus), fmt::format("node {}", node)});
  }
  return parts;
}

std::vector<Part> packages(const CpuSet& mask, const std::string& sys) {
  std::map<int, std::vector<int>> members;
  for (const int cpu : mask.cpus()) {
    const CpuSet id = list_in(fmt::format("{}/devices/system/cpu/cpu{}/topology/physical_package_id", sys, cpu));
    members[id.empty() ? 0 : id.cpus().front()].push_back(cpu);
  }
  std::vector<Part> parts;
  for (auto& [id, cpus] : members) parts.push_back({CpuSet(std::move(cpus)), fmt::format("package {}", id)});
  return parts;
}

std::vector<Part> equal_parts(const CpuSet& mask, int count) {
  const std::vector<int>& cpus = mask.cpus();
  const int size = mask.size();
  std::vector<Part> parts;
  for (int i = 0; i < count; ++i) {
    if (count > size) {
      parts.push_back({CpuSet({cpus[static_cast<std::size_t>(i % size)]}), fmt::format("part {} of {}", i + 1, count)});
    } else {
      parts.push_back({CpuSet(std::vector<int>(cpus.begin() + size * i / count, cpus.begin() + size * (i + 1) / count)),
                       fmt::format("part {} of {}", i + 1, count)});
    }
  }
  return parts;
}

/// "node 0" or "nodes 0-1"; empty where sysfs does not say.
std::string nodes_of(const CpuSet& cpus, const std::string& sys) {
  std::vector<int> numbers;
  const CpuSet online = list_in(sys + "/devices/system/node/online");  // the same form as a list of CPUs
  for (const int node : online.cpus()) {
    if (!list_in(fmt::format("{}/devices/system/node/node{}/cpulist", sys, node)).intersected(cpus).empty())
      numbers.push_back(node);
  }
  if (numbers.empty()) return {};
  const char* const plural = numbers.size() > 1 ? "s" : "";
  return fmt::format(", node{} {}", plural, CpuSet(std::move(numbers)).to_string());
}

std::vector<Part> divide(const CpuSet& mask, const Settings& settings, const std::string& sys) {
  std::vector<Part> parts;
  switch (settings.host_partition) {
    case HostPartition::numa: parts = nodes(mask, sys); break;
    case HostPartition::package: parts = packages(mask, sys); break;
    case HostPartition::count:
      if (settings.host_devices > 1) parts = equal_parts(mask, settings.host_devices);
      break;
  }
  if (parts.empty()) parts.push_back({mask, "all CPUs"});
  return parts;
}

}  // namespace

std::vector<Place> place_devices(const ProcessResources& resources, const Settings& settings, const std::string& sys) {
  const CpuSet& mask = resources.cpus;
  const std::vector<Part> parts = divide(mask, settings, sys);
  const int count = static_cast<int>(parts.size());
  const int threads = resources.num_threads;
  std::vector<Place> places;
  for (int i = 0; i < count; ++i) {
    const Part& part = parts[static_cast<std::size_t>(i)];
    Place place;
    place.name = count == 1 ? "host" : fmt::format("host:{}", i);
    place.ordinal = i;
    place.cpus = part.cpus;
    place.slots =
        threads > 0 ? std::max(threads * (i + 1) / count - threads * i / count, 1) : std::max(part.cpus.size(), 1);
    place.shares_cpus = count > mask.size() || place.slots > part.cpus.size() || mask.size() == 1;
    place.part = part.what;
    places.push_back(std::move(place));
  }
  return places;
}

Result<CpuSet> place_server(const ProcessResources& resources, const Settings& settings) {
  if (settings.rpc_affinity == "near" || settings.rpc_affinity == "none") return resources.cpus;
  constexpr const char* variable = "GANTRY_RPC_AFFINITY";
  const Result<CpuSet> asked = CpuSet::parse(settings.rpc_affinity);
  if (!asked.ok()) return invalid_setting(variable, settings.rpc_affinity, "near, none or CPUs, as in 0-3,8");
  CpuSet usable = asked->intersected(resources.cpus);
  if (usable.empty())
    return invalid_setting(variable, settings.rpc_affinity,
                           fmt::format("the process may use the CPUs {}", resources.cpus.to_string()));
  return usable;
}

std::string place_text(const Place& place, const ProcessResources& resources, const std::string& sys) {
  return fmt::format("cpus {}{} ({} of the process's mask: {})", place.cpus.to_string(), nodes_of(place.cpus, sys),
                     place.part, resources.reason);
}

}  // namespace gantry::host
