// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/kokkos/Offload.hpp>

#include <impl/Kokkos_Tools.hpp>

#include <cstdint>
#include <string>

/// Kokkos Tools events, built only when a tool listens.
namespace gantry::impl {

inline bool tool_loaded() {
  return Kokkos::Tools::profileLibraryLoaded();
}

inline void tool_allocated(const char* space, const char* label, const void* memory, std::size_t bytes) {
  Kokkos::Tools::allocateData(Kokkos::Tools::make_space_handle(space), label, memory, bytes);
}
inline void tool_deallocated(const char* space, const char* label, const void* memory, std::size_t bytes) {
  Kokkos::Tools::deallocateData(Kokkos::Tools::make_space_handle(space), label, memory, bytes);
}

template <class Name, class Fence>
Status between_fence_events(std::uint32_t device_id, const Name& name, const Fence& fence) {
  std::uint64_t handle = 0;
  Kokkos::Tools::beginFence(name, device_id, &handle);
  Status status = fence();
  Kokkos::Tools::endFence(handle);
  return status;
}

/// Runs `fence` between the events of a fence: of one instance, or of all devices.
template <class Name, class Fence>
Status with_fence_event(const Offload& instance, const Name& name, const Fence& fence) {
  if (!tool_loaded()) [[likely]]
    return fence();
  return between_fence_events(Kokkos::Tools::Experimental::device_id(instance), name, fence);
}
template <class Name, class Fence>
Status with_fence_event(const Name& name, const Fence& fence) {
  if (!tool_loaded()) [[likely]]
    return fence();
  using namespace Kokkos::Tools::Experimental;
  return between_fence_events(device_id_root<Offload>() + int_for_synchronization_reason(GlobalDeviceSynchronization),
                              name, fence);
}

}  // namespace gantry::impl
