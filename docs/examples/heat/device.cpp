// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "device.hpp"

#include "problem.hpp"

#if defined(GANTRY_DEFAULT_EXECUTION_SPACE)
#include <gantry/rpc/sink.hpp>
#endif

#include <fmt/format.h>

#include <utility>

#include <unistd.h>

namespace heat {

#if defined(GANTRY_DEFAULT_EXECUTION_SPACE)

namespace {

template <class T>
T or_throw(gantry::Result<T> result) {
  if (!result.ok()) throw InputError(result.status().text());
  return std::move(result).value();
}

}  // namespace

std::vector<Device> choose_devices(int count) {
  const auto list = or_throw(gantry::devices());
  const auto choice = or_throw(gantry::default_device());
  const int present = static_cast<int>(list.size());
  if (count > present) {
    throw InputError(fmt::format("devices: {} asked for, there is only {}; GANTRY_HOST_DEVICES={} makes {} of the CPUs",
                                 count, present, count, count));
  }

  std::vector<Device> devices;
  for (int i = 0; i < count; ++i) {
    const int id = (choice.id + i) % present;
    devices.push_back({i == 0 ? Space() : Space(gantry::DeviceId(id)), list[id].info.name,
                       i == 0 ? choice.reason : "the next one", list[id].info.memory_bytes});
  }
  return devices;
}

void print_to_stderr(const Device& device) {
  gantry::rpc::Output output;
  output.kind = gantry::rpc::Output::Kind::standard_error;
  if (const gantry::Status status = gantry::rpc::set_output(device.space.device().id, output); !status.ok())
    throw InputError(status.text());
}

#else

void print_to_stderr(const Device&) {}

// Plain Kokkos has one device a process: the parts are instances of the default execution space.
std::vector<Device> choose_devices(int count) {
  const std::uint64_t memory = std::uint64_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  std::vector<Device> devices;
  for (const Space& space : Kokkos::Experimental::partition_space(Space(), std::vector<int>(count, 1)))
    devices.push_back({count == 1 ? Space() : space, Space::name(), "Kokkos::DefaultExecutionSpace", memory});
  return devices;
}

#endif

Space another_queue(const Device& device) {
  return Kokkos::Experimental::partition_space(device.space, 1).front();
}

}  // namespace heat
