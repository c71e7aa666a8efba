// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define GANTRY_IMPL_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GANTRY_IMPL_ASAN 1
#endif
#endif

#if defined(GANTRY_IMPL_ASAN)
#include <sanitizer/asan_interface.h>
#endif

namespace gantry {

/// Makes AddressSanitizer report every access to a range until it is unpoisoned; nothing in other builds.
inline void poison([[maybe_unused]] const void* memory, [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(GANTRY_IMPL_ASAN)
  __asan_poison_memory_region(memory, bytes);
#endif
}

inline void unpoison([[maybe_unused]] const void* memory, [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(GANTRY_IMPL_ASAN)
  __asan_unpoison_memory_region(memory, bytes);
#endif
}

}  // namespace gantry
