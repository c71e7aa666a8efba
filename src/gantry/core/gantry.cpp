// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/core/gantry.hpp>

#include <gantry/base/printable.hpp>
#include <gantry/base/try.hpp>
#include <gantry/core/managed_device.hpp>
#include <gantry/core/runtime.hpp>

#include <fmt/format.h>

#include <utility>

namespace gantry {

Result<std::vector<DeviceStatus>> devices() {
  return Runtime::get().devices();
}

Result<DeviceChoice> default_device() {
  return Runtime::get().default_device();
}

Result<DeviceHandle> open_device(DeviceId id) {
  return Runtime::get().open(id);
}

Status close_device(DeviceId id, CloseMode mode) {
  return Runtime::get().close(id, mode);
}

Status close_all_devices() {
  return Runtime::get().close_all();
}

LeakReport leak_report() {
  return Runtime::get().leak_report();
}

LeakCallback set_leak_callback(LeakCallback callback, void* user) {
  return Runtime::get().set_leak_callback(callback, user);
}

Result<QueueRef> default_queue(DeviceHandle device) {
  GANTRY_TRY_ASSIGN(ManagedDevice * managed, Runtime::get().device(device));
  return managed->default_queue(device.generation);
}

Result<QueueRef> create_queue(DeviceHandle device, std::string label) {
  GANTRY_TRY_ASSIGN(ManagedDevice * managed, Runtime::get().device(device));
  return managed->create_queue(device.generation, std::move(label));
}

Result<EventRef> create_event(DeviceHandle device, std::string label) {
  GANTRY_TRY_ASSIGN(ManagedDevice * managed, Runtime::get().device(device));
  return managed->create_event(device.generation, std::move(label));
}

Result<void*> allocate(DeviceHandle device, MemoryKind kind, std::size_t bytes, std::string_view label) {
  if (kind != MemoryKind::device && kind != MemoryKind::pinned)
    return Status::error(Code::invalid_argument, fmt::format("{}: there is no memory kind {}, only device and pinned",
                                                             in_quotes(label), static_cast<int>(kind)));
  GANTRY_TRY_ASSIGN(ManagedDevice * managed, Runtime::get().device(device));
  return managed->allocate(device.generation, kind, bytes, label);
}

Status deallocate(DeviceHandle device, void* memory) {
  GANTRY_TRY_ASSIGN(ManagedDevice * managed, Runtime::get().device(device));
  return managed->deallocate(device.generation, memory);
}

bool find_allocation(const void* address, Allocation& found) noexcept {
  return Runtime::get().find_allocation(address, found);
}

Status fence_all() {
  return Runtime::get().fence_all();
}

Status wait_all() {
  return Runtime::get().wait_all();
}

void flush_output() noexcept {
  Runtime::get().flush_output();
}

std::vector<BackendCalls> call_statistics() {
  return Runtime::get().call_statistics();
}

Result<std::size_t> trim(DeviceHandle device) {
  GANTRY_TRY_ASSIGN(ManagedDevice * managed, Runtime::get().device(device));
  return managed->trim(device.generation);
}

}  // namespace gantry
