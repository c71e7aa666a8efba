// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Macros.hpp>
#include <impl/Kokkos_Error.hpp>

/// What differs between Kokkos versions and configurations, in one place. All else is written against 5.2.
namespace gantry::impl {

/// What Kokkos throws for a failed allocation.
using KokkosBadAlloc = Kokkos::Experimental::BadAlloc;

/// The Kokkos that a file is compiled for: recorded in the library, compared with that of the program.
struct KokkosBuild {
  int version;     ///< KOKKOS_VERSION: 50202 for 5.2.2
  unsigned flags;  ///< one bit for each option that changes the layout or meaning of shared types

  friend constexpr bool operator==(const KokkosBuild& a, const KokkosBuild& b) = default;
};

constexpr KokkosBuild kokkos_build() {
  unsigned flags = 0;
#ifdef KOKKOS_ENABLE_DEBUG
  flags |= 1u;
#endif
#ifdef KOKKOS_ENABLE_COMPLEX_ALIGN
  flags |= 2u;
#endif
#ifdef KOKKOS_ENABLE_IMPL_MDSPAN
  flags |= 4u;
#endif
#ifdef KOKKOS_ENABLE_IMPL_VIEW_LEGACY
  flags |= 8u;
#endif
#ifdef KOKKOS_ENABLE_OPENMP
  flags |= 16u;
#endif
#ifdef KOKKOS_ENABLE_SERIAL
  flags |= 32u;
#endif
#ifdef KOKKOS_ENABLE_THREADS
  flags |= 64u;
#endif
#ifdef KOKKOS_ENABLE_HPX
  flags |= 128u;
#endif
  return {KOKKOS_VERSION, flags};
}

}  // namespace gantry::impl
