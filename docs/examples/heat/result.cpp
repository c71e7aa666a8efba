// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "result.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace heat {

void print_text(std::FILE* out, const Problem& problem, const Result& result) {
  const double per_iteration = result.iterations > 0 ? 1e3 * result.solve_seconds / result.iterations : 0;
  fmt::print(out, "  check    {}: error {:.2e}, at most {:.2e} from {} solves to {:.0e}\n",
             result.pass() ? "PASS" : "FAIL", result.error, result.error_bound, problem.steps, problem.tolerance);
  fmt::print(out, "           {:.2e} from the exact solution of the heat equation (grid and time steps)\n",
             result.discretisation);
  fmt::print(out, "  run      {:.2f} s, of which {:.2f} s in {} iterations: {:.3f} ms each, {:.1f} GB/s\n",
             result.total_seconds, result.solve_seconds, result.iterations, per_iteration, 1e-9 * result.bandwidth);
  if (!problem.output.empty() && result.picture_error.empty()) fmt::print(out, "  picture  {}\n", problem.output);
  if (result.leaks) fmt::print(out, "  leaks    {}\n", *result.leaks == 0 ? "none" : std::to_string(*result.leaks));
}

void print_json(std::FILE* out, const Problem& problem, const Result& result) {
  const nlohmann::ordered_json line{{"grid", problem.grid},
                                    {"time", problem.time},
                                    {"steps", problem.steps},
                                    {"diffusivity", problem.diffusivity},
                                    {"scheme", scheme_name(problem.scheme)},
                                    {"tolerance", problem.tolerance},
                                    {"devices", result.devices},
                                    {"pass", result.pass()},
                                    {"error", result.error},
                                    {"error_bound", result.error_bound},
                                    {"discretisation_error", result.discretisation},
                                    {"iterations", result.iterations},
                                    {"solve_seconds", result.solve_seconds},
                                    {"total_seconds", result.total_seconds},
                                    {"bytes_per_second", result.bandwidth},
                                    {"output", problem.output},
                                    {"leaks", result.leaks ? nlohmann::json(*result.leaks) : nlohmann::json()}};
  fmt::print(out, "{}\n", line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace heat
