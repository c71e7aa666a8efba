// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/kokkos/OffloadSpace.hpp>
#include <gantry/kokkos/slot_below.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace Kokkos::Impl {
template <class DeviceType>
struct Random_UniqueIndex;
}

/// Which generator of a random pool a thread takes: that of its slot. A pool that was made for a device with fewer
/// slots ends the program.
template <class MemorySpace>
struct Kokkos::Impl::Random_UniqueIndex<Kokkos::Device<gantry::Offload, MemorySpace>> {
  using locks_view_type = Kokkos::View<int**, Kokkos::Device<gantry::Offload, MemorySpace>>;
  KOKKOS_FUNCTION static std::uint64_t get_state_idx(const locks_view_type& locks) {
    return static_cast<std::uint64_t>(gantry::impl::slot_below(
        static_cast<int>(locks.extent(0)),
        "gantry: a random pool is used on a device with more thread slots than it has generators; make it with the "
        "instance whose kernels use it"));
  }
};
