// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Gives Kokkos::SharedSpace and Kokkos::SharedHostPinnedSpace the space that both the host and Offload reach, where
/// Offload is the default. Kokkos would take HostSpace for both: on a host-only Kokkos the choice depends on one macro,
/// which is defined here around the declarations and nowhere else.
#ifndef GANTRY_KOKKOS_CORE_FWD_HPP
#define GANTRY_KOKKOS_CORE_FWD_HPP

#if defined(GANTRY_DEFAULT_EXECUTION_SPACE)

#ifndef KOKKOS_IMPL_PUBLIC_INCLUDE
#define KOKKOS_IMPL_PUBLIC_INCLUDE
#define GANTRY_IMPL_PUBLIC_INCLUDE_CORE_FWD
#endif

// Whatever Kokkos_Core_fwd.hpp includes must not see the macro.
#include <Kokkos_Macros.hpp>
#include <Kokkos_Printf.hpp>
#include <impl/Kokkos_Error.hpp>
#include <impl/Kokkos_Utilities.hpp>

#define KOKKOS_ENABLE_SYCL
#include_next <Kokkos_Core_fwd.hpp>
#undef KOKKOS_ENABLE_SYCL

#ifdef GANTRY_IMPL_PUBLIC_INCLUDE_CORE_FWD
#undef KOKKOS_IMPL_PUBLIC_INCLUDE
#undef GANTRY_IMPL_PUBLIC_INCLUDE_CORE_FWD
#endif

#else
#include_next <Kokkos_Core_fwd.hpp>
#endif

#endif
