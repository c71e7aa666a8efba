// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// The part of Kokkos that the parallel patterns are built on, included on purpose (see kokkos_base.hpp).
#include <gantry/kokkos/kokkos_base.hpp>

#ifndef KOKKOS_IMPL_PUBLIC_INCLUDE
#define KOKKOS_IMPL_PUBLIC_INCLUDE
#define GANTRY_IMPL_PUBLIC_INCLUDE_POLICIES
#endif

#include <KokkosExp_MDRangePolicy.hpp>
#include <Kokkos_ExecPolicy.hpp>
#include <impl/Kokkos_FunctorAnalysis.hpp>

#ifdef GANTRY_IMPL_PUBLIC_INCLUDE_POLICIES
#undef KOKKOS_IMPL_PUBLIC_INCLUDE
#undef GANTRY_IMPL_PUBLIC_INCLUDE_POLICIES
#endif
