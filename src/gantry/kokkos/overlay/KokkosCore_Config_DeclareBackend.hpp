// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Included by Kokkos_Core.hpp after the forward declarations and before View, CopyViews and what builds on them.
#ifndef GANTRY_KOKKOS_DECLARE_BACKEND_HPP
#define GANTRY_KOKKOS_DECLARE_BACKEND_HPP

#include_next <KokkosCore_Config_DeclareBackend.hpp>

#include <gantry/kokkos/Gantry_Kokkos.hpp>

#endif
