// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "options.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>

namespace heat {

std::optional<Options> parse_options(int argc, char** argv) {
  CLI::App app(
      "3-D heat conduction in the unit cube with cold walls: implicit time steps, solved by conjugate gradients.\n"
      "Options override the input file. Options that start with --kokkos- go to Kokkos.\n");
  app.footer(
      "Exit codes: 0 the result is right; 1 it is not, or something leaked; 2 bad input or too little memory;\n"
      "            3 the output cannot be written, or any other error.");

  std::string input, scheme;
  std::vector<int> grid;
  Problem given;
  Options options;

  const auto* input_option =
      app.add_option("input", input,
                     "Input file (JSON): grid, time, steps, diffusivity, scheme, tolerance, devices,\n"
                     "output, hot_spots");
  const auto* grid_option = app.add_option("--grid", grid, "Points inside the walls: N, or NX NY NZ")->expected(1, 3);
  const auto* time = app.add_option("--time", given.time, "Simulated time");
  const auto* steps = app.add_option("--steps", given.steps, "Time steps");
  const auto* diffusivity = app.add_option("--diffusivity", given.diffusivity, "Diffusivity");
  const auto* scheme_option = app.add_option("--scheme", scheme, "backward-euler or crank-nicolson");
  const auto* tolerance = app.add_option("--tolerance", given.tolerance, "Residual of a solve, relative to the start");
  const auto* devices = app.add_option("--devices", given.devices, "Devices; the cube is cut along z");
  const auto* output = app.add_option("--output", given.output, "Picture to write (PNG); \"\" for none");
  app.add_flag("--json", options.json, "One line of JSON on stdout, everything else on stderr");

  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    std::fputs(app.help().c_str(), stdout);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    throw InputError(error.what());
  }

  Problem& problem = options.problem;
  if (*input_option) problem = read_problem(input);
  if (*grid_option) {
    if (grid.size() == 2) throw InputError("grid: give one number, or three");
    problem.grid = grid.size() == 1 ? std::array{grid[0], grid[0], grid[0]} : std::array{grid[0], grid[1], grid[2]};
  }
  if (*time) problem.time = given.time;
  if (*steps) problem.steps = given.steps;
  if (*diffusivity) problem.diffusivity = given.diffusivity;
  if (*scheme_option) problem.scheme = parse_scheme(scheme);
  if (*tolerance) problem.tolerance = given.tolerance;
  if (*devices) problem.devices = given.devices;
  if (*output) problem.output = given.output;
  problem.validate();
  return options;
}

}  // namespace heat
