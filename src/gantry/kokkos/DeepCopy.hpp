// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/kokkos/Copy.hpp>
#include <gantry/kokkos/OffloadPinnedSpace.hpp>

/// Kokkos::Impl::DeepCopy for every pair of HostSpace, OffloadSpace and OffloadPinnedSpace that has one of Gantry's in
/// it.
namespace gantry::impl {

template <class To, class From, class Exec>
struct DeepCopy {
  /// Complete on return.
  DeepCopy(void* to, const void* from, std::size_t bytes) { copy_now(to, place_of<To>, from, place_of<From>, bytes); }
  /// In the order of `exec`: stream-ordered on Offload, complete on return on any other space.
  DeepCopy(const Exec& exec, void* to, const void* from, std::size_t bytes) {
    if constexpr (std::is_same_v<Exec, Offload>) {
      copy_on(exec, to, place_of<To>, from, place_of<From>, bytes);
    } else {
      exec.fence("gantry: fence before a deep copy that another execution space orders");
      copy_now(to, place_of<To>, from, place_of<From>, bytes);
    }
  }
};

}  // namespace gantry::impl

#define GANTRY_IMPL_DEEP_COPY(TO, FROM)                                                    \
  template <class Exec>                                                                    \
  struct Kokkos::Impl::DeepCopy<TO, FROM, Exec> : gantry::impl::DeepCopy<TO, FROM, Exec> { \
    using gantry::impl::DeepCopy<TO, FROM, Exec>::DeepCopy;                                \
  }
GANTRY_IMPL_DEEP_COPY(gantry::OffloadSpace, Kokkos::HostSpace);
GANTRY_IMPL_DEEP_COPY(Kokkos::HostSpace, gantry::OffloadSpace);
GANTRY_IMPL_DEEP_COPY(gantry::OffloadSpace, gantry::OffloadSpace);
GANTRY_IMPL_DEEP_COPY(gantry::OffloadPinnedSpace, Kokkos::HostSpace);
GANTRY_IMPL_DEEP_COPY(Kokkos::HostSpace, gantry::OffloadPinnedSpace);
GANTRY_IMPL_DEEP_COPY(gantry::OffloadPinnedSpace, gantry::OffloadPinnedSpace);
GANTRY_IMPL_DEEP_COPY(gantry::OffloadSpace, gantry::OffloadPinnedSpace);
GANTRY_IMPL_DEEP_COPY(gantry::OffloadPinnedSpace, gantry::OffloadSpace);
#undef GANTRY_IMPL_DEEP_COPY
