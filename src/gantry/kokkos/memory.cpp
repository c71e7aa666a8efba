// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/core/gantry.hpp>
#include <gantry/kokkos/BadAlloc.hpp>
#include <gantry/kokkos/memory.hpp>
#include <gantry/kokkos/tools.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace gantry {

BadAlloc::BadAlloc(std::string_view space_name, std::size_t bytes, std::string_view label, std::string_view reason)
    : impl::KokkosBadAlloc(space_name, bytes, label), m_what(impl::KokkosBadAlloc::what()) {
  m_what.append(" ").append(reason);
}

namespace impl {

namespace {

QueueRef queue_of(DeviceHandle device) {
  auto queue = default_queue(device);
  check(queue.status(), "the default queue");
  return *queue;
}

// The default queue of the device that an allocation goes to.
QueueRef owner_for(const BlockRequest& request) {
  if (request.exec != nullptr && (request.device < 0 || request.device == request.exec->device().id))
    return request.exec->queue().default_queue();
  const Offload standard;
  if (request.device < 0 || request.device == standard.device().id) return standard.queue();
  if (request.exec != nullptr && !(*request.exec == standard))
    throw Error(Status::error(Code::invalid_argument,
                              std::string(request.space_name) + ": allocation \"" + request.label + "\" names device " +
                                  std::to_string(request.device) + ", its execution space instance is on device " +
                                  std::to_string(request.exec->device().id) + "; name one device"));
  auto opened = open_device(request.device);
  check(opened.status(), request.space_name);
  return queue_of(*opened);
}

// Between devices that need not reach each other's memory, by way of the host.
void copy_across(const QueueRef& to_queue, void* to, const QueueRef& from_queue, const void* from, std::size_t bytes) {
  constexpr std::size_t most = std::size_t{4} << 20;
  std::vector<std::byte> piece(std::min(bytes, most));
  for (std::size_t done = 0; done < bytes; done += piece.size()) {
    const std::size_t now = std::min(piece.size(), bytes - done);
    check(from_queue.copy(piece.data(), static_cast<const std::byte*>(from) + done, now), "deep copy between devices");
    check(from_queue.sync(), "deep copy between devices");
    check(to_queue.copy(static_cast<std::byte*>(to) + done, piece.data(), now), "deep copy between devices");
    check(to_queue.sync(), "deep copy between devices");
  }
}

}  // namespace

Allocation allocation_at(const void* memory) {
  Allocation found;
  if (find_allocation(memory, found)) return found;
  check(devices().status(), "memory of a device");  // a forked child is told what it is
  throw Error(Status::error(Code::invalid_argument,
                            "a View of device memory holds an address that is no memory of an open device: it was "
                            "freed, its device was closed since, or it was not allocated by Gantry"));
}

Block allocate_block(const BlockRequest& request) {
  QueueRef owner = owner_for(request);
  auto memory = allocate(owner.device(), request.kind, request.bytes, request.label);
  if (!memory.ok()) {
    Status status = std::move(memory).status();
    if (status.code() == Code::out_of_memory)
      throw BadAlloc(request.space_name, request.logical_bytes, request.label, status.text());
    throw_error(std::move(status), request.space_name);
  }
  if (tool_loaded()) tool_allocated(request.space_name, request.label, *memory, request.logical_bytes);
  return {*memory, std::move(owner)};
}

void deallocate_block(DeviceHandle device, void* memory, const char* space_name, const char* label,
                      std::size_t logical_bytes) noexcept {
  if (tool_loaded()) tool_deallocated(space_name, label, memory, logical_bytes);
  Status status = with_fence_event("gantry: fence before deallocation", [] { return fence_all(); });
  if (status.code() == Code::refused) return;  // in a forked child, which owns nothing on a device
  status.join(deallocate(device, memory));
  if (!status.ok()) report_failure(std::move(std::move(status).with_context(label)).message().c_str());
}

bool on_device(const void* address) noexcept {
  Allocation found;
  return find_allocation(address, found) && found.kind == MemoryKind::device;
}

bool reachable(const Offload& exec, const void* address) noexcept {
  Allocation found;
  return !find_allocation(address, found) || found.kind != MemoryKind::device || found.device == exec.device();
}

void copy_on(const Offload& exec, void* to, Place to_place, const void* from, Place from_place, std::size_t bytes) {
  if (bytes == 0) return;
  const DeviceHandle here = exec.device();
  const DeviceHandle to_device = to_place == Place::device ? allocation_at(to).device : here;
  const DeviceHandle from_device = from_place == Place::device ? allocation_at(from).device : here;
  if (to_device == here && from_device == here) return check(exec.queue().copy(to, from, bytes), "deep copy");
  exec.fence();
  copy_now(to, to_place, from, from_place, bytes);
}

void copy_now(void* to, Place to_place, const void* from, Place from_place, std::size_t bytes) {
  if (bytes == 0) return;
  DeviceHandle to_device = to_place == Place::device ? allocation_at(to).device : DeviceHandle{};
  DeviceHandle from_device = from_place == Place::device ? allocation_at(from).device : DeviceHandle{};
  if (to_place == Place::host && from_place == Place::host) to_device = Offload().device();
  if (to_device.id < 0) to_device = from_device;
  if (from_device.id < 0) from_device = to_device;
  const QueueRef to_queue = queue_of(to_device);
  if (to_device == from_device) {
    check(to_queue.copy(to, from, bytes), "deep copy");
    return check(to_queue.sync(), "deep copy");
  }
  const QueueRef from_queue = queue_of(from_device);
  check(to_queue.sync(), "deep copy between devices");
  copy_across(to_queue, to, from_queue, from, bytes);
}

void write_on(const Offload& exec, void* to, const void* from, std::size_t bytes) {
  const Route route(exec, allocation_at(to));
  check(route.exec().queue().write(to, from, bytes), "deep copy of a value");
  route.finish();
}

void fill_on(const Offload& exec, void* to, const void* pattern, std::size_t pattern_bytes, std::size_t count) {
  if (count == 0) return;
  const Route route(exec, allocation_at(to));
  check(route.exec().queue().fill(to, pattern, pattern_bytes, count), "fill of a View");
  route.finish();
}

Staged::Staged(const Offload& exec, const void* from, std::size_t bytes)
    : m_block(allocate_block({MemoryKind::device, OffloadSpace::name(), &exec, -1,
                              "deep copy between devices: the source", bytes, bytes})),
      m_bytes(bytes) {
  copy_now(m_block.memory, Place::device, from, Place::device, bytes);
}

Staged::~Staged() {
  deallocate_block(m_block.owner.device(), m_block.memory, OffloadSpace::name(),
                   "deep copy between devices: the source", m_bytes);
}

Route::Route(const Offload& exec, const Allocation& memory) : m_exec(exec) {
  if (memory.kind != MemoryKind::device || memory.device == exec.device()) return;
  exec.fence();
  m_exec = Offload(queue_of(memory.device));
  m_rerouted = true;
}

void Route::finish() const {
  if (m_rerouted) m_exec.fence();
}

}  // namespace impl

}  // namespace gantry
