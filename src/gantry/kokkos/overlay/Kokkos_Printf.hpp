// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// In place of Kokkos's own header: Kokkos::printf in a kernel of Offload is printed by the host, whatever the device;
/// anywhere else it is the C library's, as Kokkos has it.
#ifndef KOKKOS_PRINTF_HPP
#define KOKKOS_PRINTF_HPP

#include <Kokkos_Macros.hpp>

#include <gantry/device/printf.hpp>

#include <cstdio>

namespace Kokkos {

/// Without arguments the format is plain text, as in Kokkos.
template <typename... Args>
KOKKOS_FORCEINLINE_FUNCTION void printf(const char* format, Args... args) {
  if (gantry::rpc::current_port()) {
    if constexpr (sizeof...(Args) == 0)
      gantry::printf("%s", format);
    else
      gantry::printf(format, args...);
  } else {
    if constexpr (sizeof...(Args) == 0)
      ::printf("%s", format);
    else
      ::printf(format, args...);
  }
}

}  // namespace Kokkos

#endif
