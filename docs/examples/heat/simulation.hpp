// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "problem.hpp"
#include "result.hpp"

#include <cstdio>

namespace heat {

/// Solves the problem, draws the picture and checks the result; between Kokkos::initialize and Kokkos::finalize. Tells
/// on `out` what it does.
[[nodiscard]] Result simulate(const Problem& problem, std::FILE* out);

}  // namespace heat
