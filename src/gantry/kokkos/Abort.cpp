// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/base/export.hpp>
#include <gantry/core/gantry.hpp>
#include <gantry/rpc/out_of_line.hpp>

#include <chrono>

namespace Kokkos::Impl {

[[noreturn]] void host_abort(const char* message);  // of libkokkoscore

/// Called by Kokkos::abort, see overlay/Kokkos_Abort.hpp.
[[noreturn]] GANTRY_API void gantry_host_abort(const char* message);

void gantry_host_abort(const char* message) {
  constexpr std::chrono::seconds patience{10};
  gantry::rpc::impl::flush_here(patience);  // also while the device closes
  gantry::flush_output();
  host_abort(message);
}

}  // namespace Kokkos::Impl
