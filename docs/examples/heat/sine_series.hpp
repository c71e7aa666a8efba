// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "domain.hpp"
#include "problem.hpp"

#include <array>
#include <vector>

namespace heat {

/// The exact solution: a sum of modes sin(p pi x) sin(q pi y) sin(r pi z), each of which decays on its own. The modes
/// are eigenvectors of the 7-point stencil too, so the series also gives what the scheme must produce on its grid.
class SineSeries {
 public:
  /// The hot spots of the problem, up to the mode at which the sharpest has died out or the grid's finest.
  explicit SineSeries(const Problem& problem);

  /// What a number of modes is multiplied with, by mode.
  enum class Decay { none, exact, scheme };
  /// Writes the series to `field` of a part: at the start, as the heat equation has it at the end, or as the scheme
  /// computes it without rounding and with exact solves. Waits for it.
  void evaluate(const Part& part, const Field& field, Decay decay) const;

  [[nodiscard]] int modes() const { return m_modes; }

 private:
  [[nodiscard]] double decay_of(Decay decay, const std::array<int, 3>& mode) const;

  Problem m_problem;
  int m_modes;                         ///< along each direction
  std::vector<double> m_coefficients;  ///< (r, q, p), p fastest
};

}  // namespace heat
