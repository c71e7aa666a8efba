// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Included by Kokkos_Macros.hpp before any of Kokkos's macros get their defaults.
#ifndef GANTRY_KOKKOS_SETUP_BACKEND_HPP
#define GANTRY_KOKKOS_SETUP_BACKEND_HPP

#include <gantry_configuration.hpp>

#if !defined(GANTRY_UNTESTED_KOKKOS)
static_assert(
    KOKKOS_VERSION >= 50200 && KOKKOS_VERSION < 50300,
    "Gantry is written and tested for Kokkos 5.2; the include path leads to another one (KOKKOS_VERSION in its "
    "KokkosCore_config.h). Define GANTRY_UNTESTED_KOKKOS to try it all the same.");
#endif

#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP) || defined(KOKKOS_ENABLE_SYCL) || \
    defined(KOKKOS_ENABLE_OPENACC) || defined(KOKKOS_ENABLE_NEXTSILICON)
#error "Gantry needs a Kokkos that was built for the host only (OpenMP, Threads or Serial): it reaches devices itself."
#endif

// The selector that makes a class of the name Kokkos::Experimental::OpenACC the default execution space. Kokkos reads
// it in two places only; the default host space stays as it is.
#if defined(GANTRY_DEFAULT_EXECUTION_SPACE)
#define KOKKOS_ENABLE_DEFAULT_DEVICE_TYPE_OPENACC
#endif

#include_next <KokkosCore_Config_SetupBackend.hpp>

#endif
