// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <chrono>
#include <cstdio>

namespace heat {

/// Tells how far the run is: on a terminal one line updated in place, otherwise a line for each tenth of the way.
class Progress {
 public:
  Progress(std::FILE* out, int steps);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// After each step, with the iterations of its solve.
  void step_done(int iterations);

 private:
  using Clock = std::chrono::steady_clock;

  std::FILE* m_out;
  int m_steps;
  int m_done = 0;
  bool m_terminal;
  Clock::time_point m_begin = Clock::now(), m_drawn{};
};

}  // namespace heat
