// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <optional>

namespace heat {

/// From now on counts what leak reports name. Call before Kokkos::initialize.
void watch_leaks();

/// Objects that were still held when their device closed; after Kokkos::finalize, all that the program forgot. Empty
/// with plain Kokkos, which does not know.
[[nodiscard]] std::optional<std::size_t> leaked_objects();

}  // namespace heat
