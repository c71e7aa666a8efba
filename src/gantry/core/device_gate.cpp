// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/core/device_gate.hpp>

#include <gantry/core/execution_context.hpp>
#include <gantry/core/managed_device.hpp>

#include <fmt/format.h>

#include <thread>

namespace gantry {

constinit DeviceGate DeviceGate::s_all[count];

DeviceGate* DeviceGate::acquire(DeviceId id, ManagedDevice* device) noexcept {
  for (unsigned i = 0; i < count; ++i) {
    ManagedDevice* free = nullptr;
    if (!s_all[i].device.compare_exchange_strong(free, device)) continue;
    s_all[i].index = static_cast<std::uint16_t>(i);
    s_all[i].id = id;
    return &s_all[i];
  }
  return nullptr;
}

void DeviceGate::release(DeviceGate& gate) noexcept {
  gate.device.store(nullptr);
}

Status not_admitted(const DeviceGate& gate, std::uint32_t generation) {
  if (in_forked_child()) return forked_child_error();
  const ManagedDevice* device = gate.device.load();
  const std::string name = device != nullptr ? device->info().name : "the device";
  const std::uint32_t now = gate.generation.load();
  if (generation < now) {
    return Status::error(
        Code::stale_handle,
        fmt::format("the handle belongs to open period {} of {}, which has ended (the period is now {}): "
                    "open the device and take new handles",
                    generation, name, now));
  }
  if (generation > now) {
    return Status::error(Code::invalid_argument,
                         fmt::format("{} never had an open period {} (the period is now {})", name, generation, now));
  }
  return Status::error(Code::device_closed, fmt::format("{} is closed or closing", name));
}

bool await_decision(const DeviceGate& gate, std::uint32_t generation) noexcept {
  if (gate.admitted.load() == generation) return !in_forked_child();
  if (gate.deciding.load() != generation || in_forked_child() || execution_context() != nullptr) return false;
  while (gate.deciding.load() == generation) std::this_thread::yield();
  return true;
}

}  // namespace gantry
