// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/kokkos/Offload.hpp>
#include <gantry/kokkos/kokkos_base.hpp>

#include <Kokkos_Abort.hpp>

namespace gantry::impl {

/// The slot of the calling thread; ends the program with the message when it is not below `size`.
KOKKOS_INLINE_FUNCTION int slot_below(int size, const char* message) {
  const int slot = Offload::impl_hardware_thread_id();
  if (slot >= size) Kokkos::abort(message);
  return slot;
}

}  // namespace gantry::impl
