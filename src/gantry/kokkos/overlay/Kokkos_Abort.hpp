// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Makes the text of Kokkos::abort come after everything that kernels printed before: Kokkos's own function stays, and
/// calls Abort.cpp in place of the library's.
#ifndef GANTRY_KOKKOS_ABORT_HPP
#define GANTRY_KOKKOS_ABORT_HPP

#define host_abort gantry_host_abort
#include_next <Kokkos_Abort.hpp>
#undef host_abort

#endif
