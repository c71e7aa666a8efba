// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/kokkos/OffloadSpace.hpp>

namespace gantry {

/// Host memory that devices reach too, and that they copy from and to at full speed. Its own execution space is the
/// host's. As OffloadSpace in all other respects.
class GANTRY_API OffloadPinnedSpace {
 public:
  using memory_space = OffloadPinnedSpace;
  using execution_space = Kokkos::DefaultHostExecutionSpace;
  using device_type = Kokkos::Device<execution_space, OffloadPinnedSpace>;
  using size_type = std::size_t;
  using index_type = std::make_signed_t<size_type>;

  OffloadPinnedSpace() noexcept = default;
  explicit OffloadPinnedSpace(DeviceId device) : m_device(impl::named_device(name(), device)) {}

  void* allocate(const Offload& exec, std::size_t bytes) const;
  void* allocate(const Offload& exec, const char* label, std::size_t bytes, std::size_t logical_bytes = 0) const;
  void* allocate(std::size_t bytes) const;
  void* allocate(const char* label, std::size_t bytes, std::size_t logical_bytes = 0) const;
  /// With an instance of a host execution space: as without one.
  template <class HostSpace>
  void* allocate(const HostSpace&, std::size_t bytes) const {
    return allocate(bytes);
  }
  template <class HostSpace>
  void* allocate(const HostSpace&, const char* label, std::size_t bytes, std::size_t logical_bytes = 0) const {
    return allocate(label, bytes, logical_bytes);
  }

  void deallocate(void* memory, std::size_t bytes) const;
  void deallocate(const char* label, void* memory, std::size_t bytes, std::size_t logical_bytes = 0) const;

  static constexpr const char* name() { return "OffloadPinnedSpace"; }
  [[nodiscard]] DeviceId device() const noexcept { return m_device; }

 private:
  DeviceId m_device = -1;
};

}  // namespace gantry

template <>
struct Kokkos::Impl::MemorySpaceAccess<Kokkos::HostSpace, gantry::OffloadPinnedSpace> {
  enum : bool { assignable = true };
  enum : bool { accessible = true };
};
template <>
struct Kokkos::Impl::MemorySpaceAccess<gantry::OffloadPinnedSpace, Kokkos::HostSpace> {
  enum : bool { assignable = false };
  enum : bool { accessible = true };  // by its own execution space, the host's
};
template <>
struct Kokkos::Impl::MemorySpaceAccess<gantry::OffloadSpace, gantry::OffloadPinnedSpace> {
  enum : bool { assignable = false };
  enum : bool { accessible = true };
};
template <>
struct Kokkos::Impl::MemorySpaceAccess<gantry::OffloadPinnedSpace, gantry::OffloadSpace> {
  enum : bool { assignable = false };
  enum : bool { accessible = false };
};
