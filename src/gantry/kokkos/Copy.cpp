// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/kokkos/Copy.hpp>
#include <gantry/kokkos/Route.hpp>

#include <algorithm>
#include <vector>

namespace gantry::impl {

namespace {

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
  if (bytes == 0) return;
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

}  // namespace gantry::impl
