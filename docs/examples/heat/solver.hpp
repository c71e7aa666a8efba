// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "domain.hpp"
#include "problem.hpp"
#include "stencil.hpp"

namespace heat {

/// Steps the heat equation in time. With A = -diffusivity * laplace, each step solves
///
///     (I + theta dt A) change = -dt A u,   u += change
///
/// by conjugate gradients from change = 0. Every eigenvalue of the matrix is at least 1 and no step amplifies errors,
/// so each step adds at most `tolerance` times the norm of the initial field to the error of u.
class Solver {
 public:
  /// `domain`, whose u holds the initial field, must outlive the solver.
  Solver(const Problem& problem, Domain& domain);

  /// One time step; returns the iterations of its solve. Throws std::runtime_error when the solve does not converge.
  int step();

  /// Bytes that one iteration moves at least: each field that a kernel reads or writes, once.
  [[nodiscard]] double bytes_per_iteration() const;

 private:
  double start();
  double multiply();

  Domain& m_domain;
  Stencil m_residual;  ///< -dt A
  Stencil m_matrix;    ///< I + theta dt A
  double m_target;     ///< r.r at which a solve ends
};

}  // namespace heat
