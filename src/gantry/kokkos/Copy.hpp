// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/kokkos/Offload.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

/// Copies and fills of bytes, on the device that owns the memory. Nothing to copy or fill: nothing is looked at, waited
/// for or refused.
namespace gantry::impl {

/// Where the operand of a copy lies, as its Kokkos memory space says.
enum class Place : std::uint8_t {
  host,    ///< any host memory, pinned memory included
  device,  ///< memory of some device: the address tells which
};
template <class Space>
inline constexpr Place place_of = std::is_same_v<Space, OffloadSpace> ? Place::device : Place::host;

/// Copies in the order of `exec`, and returns before it is done when all device memory is on exec's device. Otherwise
/// the copy is ordered after the work of `exec` and of the default queues of both devices, and complete on return.
/// Throws Error when a device address is not (or no longer) memory of an open device.
GANTRY_API void copy_on(const Offload& exec, void* to, Place to_place, const void* from, Place from_place,
                        std::size_t bytes);
/// Copies in the order of the default queues of the devices that own the memory, or of the default device's when both
/// operands are on the host; complete on return. Errors as copy_on.
GANTRY_API void copy_now(void* to, Place to_place, const void* from, Place from_place, std::size_t bytes);

/// As copy_on from host memory that may die on return.
GANTRY_API void write_on(const Offload& exec, void* to, const void* from, std::size_t bytes);

/// Sets `count` elements in the order of `exec`; on another device than exec's, and errors, as copy_on.
GANTRY_API void fill_on(const Offload& exec, void* to, const void* pattern, std::size_t pattern_bytes,
                        std::size_t count);

}  // namespace gantry::impl
