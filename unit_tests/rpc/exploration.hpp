// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <unit_tests/rpc/explored_program.hpp>

#include <cstddef>
#include <string>

namespace gantry::exploration {

struct Rules {
  /// False: a heavy fence drains the caller's own store buffer only.
  bool fences_reach_others = true;
  /// Whether a sleep may end by itself, as it does after a timeout. No liveness follows from such an end.
  bool idle_wakes = true;
  /// Breadth first: what goes wrong is told with the fewest steps. Slower by far.
  bool shortest = false;
  std::size_t most_states = 20'000'000;
};

struct Outcome {
  std::string error;  ///< empty: every state is right and a right end can be reached from it; else with all the steps
  std::size_t steps_to_error = 0;
  std::size_t states = 0;
  std::size_t transitions = 0;
  double seconds = 0;
  bool complete = false;  ///< false: stopped at an error or at most_states
};

}  // namespace gantry::exploration
