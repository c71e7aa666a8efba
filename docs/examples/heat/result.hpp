// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "problem.hpp"

#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

namespace heat {

/// What a run found out. Errors are 2-norms, relative to the initial field.
struct Result {
  std::vector<std::string> devices;
  double error = 0;           ///< against what the scheme must give on this grid: solves and rounding
  double error_bound = 0;     ///< the most that the solves can add up to
  double discretisation = 0;  ///< against the heat equation itself: grid and time steps
  int iterations = 0;
  double solve_seconds = 0;
  double total_seconds = 0;
  double bandwidth = 0;              ///< bytes a second during the solves
  std::string picture_error;         ///< empty: the picture was written, or none was asked for
  std::optional<std::size_t> leaks;  ///< objects still held when Kokkos was finalized; empty: not known

  /// The numbers are right; a NaN is not.
  [[nodiscard]] bool pass() const { return error <= error_bound; }
  [[nodiscard]] bool clean() const { return leaks.value_or(0) == 0; }
};

void print_text(std::FILE* out, const Problem& problem, const Result& result);
/// One line.
void print_json(std::FILE* out, const Problem& problem, const Result& result);

}  // namespace heat
