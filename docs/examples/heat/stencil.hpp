// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "field.hpp"
#include "problem.hpp"

namespace heat {

/// The 7-point form of A = -diffusivity * laplace, scaled and shifted: value = shift * u + scale * A u.
struct Stencil {
  double centre = 0, x = 0, y = 0, z = 0;

  Stencil(const Problem& problem, double shift, double scale) {
    const auto weight = [&](int n) { return scale * problem.diffusivity * (n + 1.0) * (n + 1.0); };
    x = -weight(problem.grid[0]);
    y = -weight(problem.grid[1]);
    z = -weight(problem.grid[2]);
    centre = shift - 2 * (x + y + z);
  }

  KOKKOS_FUNCTION double operator()(const Field::Points& u, int k, int j, int i) const {
    return centre * u(k, j, i) + x * (u(k, j, i - 1) + u(k, j, i + 1)) + y * (u(k, j - 1, i) + u(k, j + 1, i)) +
           z * (u(k - 1, j, i) + u(k + 1, j, i));
  }
};

}  // namespace heat
