// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <backends/host/backend.hpp>
#include <backends/host/device.hpp>
#include <backends/host/memory.hpp>
#include <backends/host/placement.hpp>
#include <gantry/base/leaky.hpp>
#include <gantry/base/settings.hpp>
#include <gantry/base/try.hpp>

#include <fmt/format.h>

#include <fstream>

namespace gantry::host {
namespace {

/// What the CPUs call themselves.
std::string model_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) {
      const auto text = line.find_first_not_of(" \t", line.find(':') + 1);
      if (text != line.npos) return line.substr(text);
    }
  }
  return "CPU";
}

}  // namespace

Result<std::vector<DeviceInfo>> HostBackend::devices(const ProcessResources& resources) {
  const Settings* said = settings();
  if (said == nullptr) return settings_status();
  std::vector<DeviceInfo> infos;
  for (const Place& place : place_devices(resources, *said)) {
    DeviceInfo info;
    info.name = place.name;
    info.backend = name();
    info.ordinal = place.ordinal;
    info.concurrency = place.slots;
    infos.push_back(std::move(info));
  }
  return infos;
}

void HostBackend::describe(DeviceInfo& info, const ProcessResources& resources) {
  const Settings* said = settings();
  if (said == nullptr) return;
  const std::vector<Place> places = place_devices(resources, *said);
  if (info.ordinal < 0 || info.ordinal >= static_cast<int>(places.size())) return;
  info.model = model_name();
  info.memory_bytes = process_memory().total_bytes / places.size();
  info.place = place_text(places[static_cast<std::size_t>(info.ordinal)], resources);
}

Result<std::unique_ptr<Device>> HostBackend::open(const DeviceInfo& info, const ProcessResources& resources) {
  const Settings* said = settings();
  if (said == nullptr) return settings_status();
  const std::vector<Place> places = place_devices(resources, *said);
  if (info.ordinal < 0 || info.ordinal >= static_cast<int>(places.size()))
    return Status::error(Code::not_found,
                         fmt::format("there is no host device {}; there are {}", info.ordinal, places.size()));
  const Place& place = places[static_cast<std::size_t>(info.ordinal)];
  EngineOptions options;
  options.device_name = place.name;
  options.ordinal = place.ordinal;
  options.slots = place.slots;
  options.cpus = place.cpus;
  options.bind = said->bind;
  options.spin = place.shares_cpus ? std::chrono::nanoseconds(0) : std::chrono::nanoseconds(said->spin);
  options.strict = said->async == Async::strict;
  options.blocking = said->launch_blocking;
  GANTRY_TRY_ASSIGN(CpuSet server_cpus, place_server(resources, *said));
  m_server.place(std::move(server_cpus));
  return HostDevice::open(std::move(options), said->protect, static_cast<int>(places.size()), m_server);
}

Backend& backend() {
  static Leaky<HostBackend> instance;
  return *instance;
}

}  // namespace gantry::host
