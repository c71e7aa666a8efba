// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "domain.hpp"

#include <chrono>
#include <cstdio>
#include <string>

namespace heat {

/// Tells how far the run is, and how warm the cube is: on a terminal one line updated in place, otherwise a line for
/// each tenth of the way. A kernel prints it, where the temperature is: nothing is copied to the host for it.
class Progress {
 public:
  /// `out`: where the domain's kernels print.
  Progress(std::FILE* out, int steps, Domain& domain);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// After each step, with the iterations of its solve.
  void step_done(int iterations);

 private:
  using Clock = std::chrono::steady_clock;

  void print(const std::string& before, const std::string& after);

  std::FILE* m_out;
  Domain& m_domain;
  int m_steps;
  int m_done = 0;
  bool m_terminal;
  Clock::time_point m_begin = Clock::now(), m_drawn{};
};

}  // namespace heat
