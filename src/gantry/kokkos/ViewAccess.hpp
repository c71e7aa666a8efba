// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/kokkos/Offload.hpp>

/// Kokkos checks on every access to an element, in release builds too, that the memory can be reached from where the
/// code runs, and takes every host thread for the host. Kernels of a host device run on host threads, so for Offload's
/// memory the checks do nothing: anything they could ask costs a kernel its vectorisation. GANTRY_PROTECT=1 makes a
/// host access outside of kernels fault, with the name of the View.

template <class AccessSpace>
struct Kokkos::Impl::RuntimeCheckMemoryAccessViolation<gantry::OffloadSpace, AccessSpace, false> {
  KOKKOS_FUNCTION RuntimeCheckMemoryAccessViolation(const char*) {}
};
template <class AccessSpace>
struct Kokkos::Impl::RuntimeCheckMemoryAccessViolation<gantry::Offload::scratch_memory_space, AccessSpace, false> {
  KOKKOS_FUNCTION RuntimeCheckMemoryAccessViolation(const char*) {}
};

namespace Kokkos::Impl {
template <class MemorySpace, class AccessSpace, bool accessible>
struct RuntimeCheckBasicViewMemoryAccessViolation;
}
template <class AccessSpace>
struct Kokkos::Impl::RuntimeCheckBasicViewMemoryAccessViolation<gantry::OffloadSpace, AccessSpace, false> {
  KOKKOS_FUNCTION RuntimeCheckBasicViewMemoryAccessViolation(const SharedAllocationTracker&) {}
};
template <class AccessSpace>
struct Kokkos::Impl::RuntimeCheckBasicViewMemoryAccessViolation<gantry::Offload::scratch_memory_space, AccessSpace,
                                                                false> {
  KOKKOS_FUNCTION RuntimeCheckBasicViewMemoryAccessViolation(const SharedAllocationTracker&) {}
};
