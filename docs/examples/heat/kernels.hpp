// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "domain.hpp"
#include "stencil.hpp"

namespace heat {

/// Characters that a kernel takes with it.
struct Text {
  char characters[200];
};

/// The kernels of the solver: each enqueues one kernel on the part's device and returns. Those that reduce deliver to
/// part.sum, which holds the value once the device has been fenced.
namespace kernels {

void start(Part& part, const Stencil& residual);   ///< r = p = residual of u;      sum = r.r
void multiply(Part& part, const Stencil& matrix);  ///< q = matrix * p;             sum = p.q
void update(Part& part, double alpha);             ///< u += alpha p, r -= alpha q; sum = r.r
void turn(Part& part, double beta);                ///< p = r + beta p

void square(Part& part, const Field& field);                             ///< sum = |field|^2
void square_difference(Part& part, const Field& one, const Field& two);  ///< sum = |one - two|^2

/// Prints, from the kernel: the text and the temperature at a point of the part.
void tell(Part& part, int k, int j, int i, const Text& before, const Text& after);

}  // namespace kernels
}  // namespace heat
