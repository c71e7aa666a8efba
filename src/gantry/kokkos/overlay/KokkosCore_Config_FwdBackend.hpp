// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Included by Kokkos_Core_fwd.hpp just before Kokkos::DefaultExecutionSpace is declared.
#ifndef GANTRY_KOKKOS_FWD_BACKEND_HPP
#define GANTRY_KOKKOS_FWD_BACKEND_HPP

#include_next <KokkosCore_Config_FwdBackend.hpp>

namespace gantry {
class Offload;
class OffloadSpace;
class OffloadPinnedSpace;
}  // namespace gantry

#if defined(GANTRY_DEFAULT_EXECUTION_SPACE)
namespace Kokkos {
namespace Experimental {
using OpenACC = ::gantry::Offload;
}
using SYCLSharedUSMSpace = ::gantry::OffloadPinnedSpace;
using SYCLHostUSMSpace = ::gantry::OffloadPinnedSpace;
}  // namespace Kokkos
#endif

#endif
