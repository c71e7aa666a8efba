// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/core/gantry.hpp>
#include <gantry/kokkos/Offload.hpp>

#include <cstddef>

/// What the memory spaces, their records and deep copies are made of.
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
  std::size_t logical_bytes;  ///< what Kokkos's tools are told; 0: bytes
};

/// Throws BadAlloc when there is no room, Error for anything else. The device is the one that the space names, else
/// the instance's, else the default one.
[[nodiscard]] GANTRY_API Block allocate_block(const BlockRequest& request);

/// Waits for the work of all devices, then gives the memory back. Memory of a period that has ended is left alone.
GANTRY_API void deallocate_block(DeviceHandle device, void* memory, const char* space_name, const char* label,
                                 std::size_t logical_bytes) noexcept;

/// What holds the address; throws Error unless it is memory of an open device, of either kind.
[[nodiscard]] GANTRY_API Allocation allocation_at(const void* memory);

/// Where the operand of a copy lies, as its Kokkos memory space says.
enum class Place : std::uint8_t {
  host,    ///< any host memory, pinned memory included
  device,  ///< memory of some device: the address tells which
};

/// Copies in the order of `exec`, and returns before it is done when all device memory is on exec's device. Otherwise
/// the copy is ordered after the work of `exec` and of both devices, and complete on return. Throws Error when a device
/// address is not (or no longer) memory of an open device.
GANTRY_API void copy_on(const Offload& exec, void* to, Place to_place, const void* from, Place from_place,
                        std::size_t bytes);
/// As copy_on the default queue of the device that owns the memory; complete on return.
GANTRY_API void copy_now(void* to, Place to_place, const void* from, Place from_place, std::size_t bytes);

/// As copy_on from host memory that may die on return.
GANTRY_API void write_on(const Offload& exec, void* to, const void* from, std::size_t bytes);

/// Sets `count` elements in the order of `exec`; on another device than exec's, and errors, as copy_on.
GANTRY_API void fill_on(const Offload& exec, void* to, const void* pattern, std::size_t pattern_bytes,
                        std::size_t count);

/// True for device memory of an open device.
[[nodiscard]] GANTRY_API bool on_device(const void* address) noexcept;
/// False for device memory of another device than that of `exec`.
[[nodiscard]] GANTRY_API bool reachable(const Offload& exec, const void* address) noexcept;

/// Where work on some memory has to run so that it runs on the device that owns it: on `exec`, or on the default queue
/// of another device. Pinned memory leaves the choice as it is.
class GANTRY_API Route {
 public:
  /// On another device than exec's, waits for what was launched on `exec` before.
  Route(const Offload& exec, const Allocation& memory);
  [[nodiscard]] const Offload& exec() const noexcept { return m_exec; }
  [[nodiscard]] bool rerouted() const noexcept { return m_rerouted; }
  /// Waits for the work when it was re-routed: what is launched on the caller's instance next must find it done.
  void finish() const;

 private:
  Offload m_exec;
  bool m_rerouted = false;
};

/// A copy, on another device, of the elements that a View reaches; lives as long as this object.
class GANTRY_API Staged {
 public:
  Staged(const Offload& exec, const void* from, std::size_t bytes);
  Staged(const Staged&) = delete;
  Staged& operator=(const Staged&) = delete;
  ~Staged();
  [[nodiscard]] void* memory() const noexcept { return m_block.memory; }

 private:
  Block m_block;
  std::size_t m_bytes = 0;
};

}  // namespace gantry::impl
