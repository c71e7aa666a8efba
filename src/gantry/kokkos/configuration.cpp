// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/base/export.hpp>

#include <Kokkos_Macros.hpp>

#define GANTRY_IMPL_JOIN_2(a, b) a##b
#define GANTRY_IMPL_JOIN(a, b) GANTRY_IMPL_JOIN_2(a, b)

/// What the marker of every object refers to (overlay/gantry_configuration.hpp): programs that were compiled for
/// another Kokkos do not link with this library.
extern "C" GANTRY_API const char GANTRY_IMPL_JOIN(gantry_library_for_kokkos_, KOKKOS_VERSION);
extern "C" const char GANTRY_IMPL_JOIN(gantry_library_for_kokkos_, KOKKOS_VERSION) = 1;
