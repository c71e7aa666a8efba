// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Included by Kokkos_Macros.hpp before any of Kokkos's macros get their defaults.
#ifndef GANTRY_KOKKOS_SETUP_BACKEND_HPP
#define GANTRY_KOKKOS_SETUP_BACKEND_HPP

#include <gantry_configuration.hpp>

static_assert(KOKKOS_VERSION >= 50000 && KOKKOS_VERSION < 60000,
              "Gantry works with Kokkos 5.x (tested with 5.2); this is another Kokkos. Its version is in "
              "KokkosCore_config.h of the Kokkos that the include path names.");

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
