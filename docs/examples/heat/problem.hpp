// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace heat {

/// Something the user can put right: the message names the key or option, and what is valid.
struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A ball of heat at the start: a Gaussian of standard deviation `width` round `at`.
struct HotSpot {
  std::array<double, 3> at{0.5, 0.5, 0.5};  ///< x, y, z inside the unit cube
  double width = 0.1;
  double temperature = 1.0;
};

enum class Scheme : std::uint8_t { backward_euler, crank_nicolson };
[[nodiscard]] std::string_view scheme_name(Scheme scheme);
[[nodiscard]] Scheme parse_scheme(std::string_view name);

/// Heat conduction in the unit cube with cold walls: du/dt = diffusivity * laplace(u), u = 0 on the walls.
struct Problem {
  std::array<int, 3> grid{128, 128, 128};  ///< points inside the walls along x, y, z
  double time = 0.006;                     ///< simulated, from 0
  int steps = 30;
  double diffusivity = 1.0;
  Scheme scheme = Scheme::crank_nicolson;
  double tolerance = 1e-9;  ///< residual of each solve, relative to the norm of the initial field
  int devices = 1;
  std::string output = "heat.png";  ///< picture; empty: none
  std::vector<HotSpot> hot_spots = default_hot_spots();

  [[nodiscard]] double time_step() const { return time / steps; }
  /// 1: fully implicit, 0.5: Crank-Nicolson.
  [[nodiscard]] double theta() const { return scheme == Scheme::backward_euler ? 1.0 : 0.5; }
  [[nodiscard]] double points() const { return double(grid[0]) * grid[1] * grid[2]; }

  /// Throws InputError for the first value that cannot work.
  void validate() const;

  static std::vector<HotSpot> default_hot_spots();
};

/// Reads a problem from a JSON file; keys that are absent keep their defaults. Throws InputError for a file that cannot
/// be read or parsed, for unknown keys and for values of the wrong type.
[[nodiscard]] Problem read_problem(const std::string& path);

}  // namespace heat
