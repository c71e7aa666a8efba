// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/export.hpp>
#include <gantry/core/handle.hpp>
#include <gantry/kokkos/kokkos_base.hpp>

#include <cstddef>
#include <type_traits>

namespace gantry {

namespace impl {
/// The number as it is; throws Error (invalid_argument), which names it, when it is negative: no device has such a one.
GANTRY_API DeviceId named_device(const char* space_name, DeviceId device);
}  // namespace impl

/// Memory of a device; host code must not touch it outside of kernels.
///
/// A default-constructed space follows the execution instance that it is used with (the default device without one);
/// OffloadSpace(id) is the memory of that device and needs no instance; the first allocation finds out whether there is
/// such a device. Allocations are at least 128-byte aligned and
/// hold no defined values. Deallocation waits for the work of the device first, as Kokkos's own spaces do.
class GANTRY_API OffloadSpace {
 public:
  using memory_space = OffloadSpace;
  using execution_space = Offload;
  using device_type = Kokkos::Device<Offload, OffloadSpace>;
  using size_type = std::size_t;
  using index_type = std::make_signed_t<size_type>;

  OffloadSpace() noexcept = default;
  explicit OffloadSpace(DeviceId device) : m_device(impl::named_device(name(), device)) {}

  /// Memory on the instance's device; throws Kokkos's bad-allocation exception, naming label, device, bytes, free,
  /// total.
  void* allocate(const Offload& exec, std::size_t bytes) const;
  void* allocate(const Offload& exec, const char* label, std::size_t bytes, std::size_t logical_bytes = 0) const;
  void* allocate(std::size_t bytes) const;
  void* allocate(const char* label, std::size_t bytes, std::size_t logical_bytes = 0) const;

  /// Never throws: what goes wrong is reported on stderr. Memory of a device that was closed since is left alone.
  void deallocate(void* memory, std::size_t bytes) const;
  void deallocate(const char* label, void* memory, std::size_t bytes, std::size_t logical_bytes = 0) const;

  static constexpr const char* name() { return "OffloadSpace"; }

  /// The device that was named; -1: none, the space was made by default.
  [[nodiscard]] DeviceId device() const noexcept { return m_device; }

 private:
  DeviceId m_device = -1;
};

}  // namespace gantry

template <>
struct Kokkos::Impl::MemorySpaceAccess<Kokkos::HostSpace, gantry::OffloadSpace> {
  enum : bool { assignable = false };
  enum : bool { accessible = false };
};
template <>
struct Kokkos::Impl::MemorySpaceAccess<gantry::OffloadSpace, Kokkos::HostSpace> {
  enum : bool { assignable = false };
  enum : bool { accessible = false };
};
template <>
struct Kokkos::Impl::MemorySpaceAccess<gantry::OffloadSpace, gantry::OffloadSpace> {
  enum : bool { assignable = true };
  enum : bool { accessible = true };
};
