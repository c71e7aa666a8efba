// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/core/gantry.hpp>
#include <gantry/kokkos/Offload.hpp>

#include <cstddef>

namespace gantry::impl {

/// An allocation and the default queue of its device, which names the open period that it belongs to and is not
/// counted.
struct Block {
  void* memory = nullptr;
  QueueRef owner;
};

/// What an allocation is for, as a space was asked.
struct BlockRequest {
  MemoryKind kind;
  const char* space_name;
  const Offload* exec;  ///< may be null
  DeviceId device;      ///< that the space names; -1: none
  const char* label;
  std::size_t bytes;
  std::size_t logical_bytes;  ///< what Kokkos's tools are told
};

/// The device is the one that the space names, else the instance's, else the default one; opens it when it is closed,
/// and no other. Throws BadAlloc when there is no room, Error for anything else: also when the space names another
/// device than that of an instance which is not the default one.
[[nodiscard]] GANTRY_API Block allocate_block(const BlockRequest& request);

/// Waits for the work of all devices; false when the memory's open period has ended or work of its device has failed:
/// nothing can be done with what the memory holds.
[[nodiscard]] GANTRY_API bool settle(const Block& block) noexcept;

/// Waits for the work of all devices, then gives the memory back. Memory of a period that has ended is left alone. An
/// error of the work is left to the next call that can return it.
GANTRY_API void deallocate_block(DeviceHandle device, void* memory, const char* space_name, const char* label,
                                 std::size_t logical_bytes) noexcept;

}  // namespace gantry::impl
