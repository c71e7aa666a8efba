// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// The part of Kokkos that a space is built on: no View, no pattern, nothing that needs Offload to be complete. Kokkos
// wants to be told that such headers are included on purpose.
#ifndef KOKKOS_IMPL_PUBLIC_INCLUDE
#define KOKKOS_IMPL_PUBLIC_INCLUDE
#define GANTRY_IMPL_PUBLIC_INCLUDE
#endif

#include <Kokkos_Core_fwd.hpp>

#include <Kokkos_Concepts.hpp>
#include <Kokkos_HostSpace.hpp>
#include <Kokkos_Layout.hpp>
#include <Kokkos_ScratchSpace.hpp>
#include <impl/Kokkos_ExecSpaceManager.hpp>
#include <impl/Kokkos_InitializationSettings.hpp>
#include <impl/Kokkos_Profiling_Interface.hpp>
#include <impl/Kokkos_SharedAlloc.hpp>
#include <impl/Kokkos_ZeroMemset_fwd.hpp>

namespace Kokkos::Impl {
template <class DeviceType, class ValueType>
struct ViewValueFunctor;
template <class DeviceType, class ValueType>
struct ViewValueFunctorSequentialHostInit;
}  // namespace Kokkos::Impl

#ifdef GANTRY_IMPL_PUBLIC_INCLUDE
#undef KOKKOS_IMPL_PUBLIC_INCLUDE
#undef GANTRY_IMPL_PUBLIC_INCLUDE
#endif
