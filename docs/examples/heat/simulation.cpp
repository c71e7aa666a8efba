// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "simulation.hpp"

#include "canvas.hpp"
#include "kernels.hpp"
#include "picture.hpp"
#include "progress.hpp"
#include "sine_series.hpp"
#include "snapshots.hpp"
#include "solver.hpp"

#include <fmt/format.h>

#include <cmath>

namespace heat {
namespace {

constexpr int pictures = 6;  // the first at the start, the last at the end

void print_problem(std::FILE* out, const Problem& problem, const Domain& domain) {
  fmt::print(out, "Heat conduction in a cube\n");
  fmt::print(out, "  grid     {} x {} x {}, {:.1f} MB\n", problem.grid[0], problem.grid[1], problem.grid[2],
             1e-6 * double(domain.bytes()));
  fmt::print(out, "  time     {} in {} steps, {}, diffusivity {}\n", problem.time, problem.steps,
             scheme_name(problem.scheme), problem.diffusivity);
  for (const Part& part : domain.parts()) {
    const int threads = part.device.space.concurrency();
    fmt::print(out, "  device   {}, {} thread{}, planes {} to {}: {}\n", part.device.name, threads,
               threads == 1 ? "" : "s", part.extent.first_z + 1, part.extent.first_z + part.extent.nz, part.device.why);
  }
}

void evaluate(Domain& domain, const SineSeries& series, Field Part::*field, SineSeries::Decay decay) {
  domain.each([&](Part& part) { series.evaluate(part, part.*field, decay); });
}

/// |u - series| where q, free after the last solve, holds the series.
double distance(Domain& domain, const SineSeries& series, SineSeries::Decay decay) {
  evaluate(domain, series, &Part::q, decay);
  return std::sqrt(domain.sum([](Part& part) { kernels::square_difference(part, part.u, part.q); }));
}

}  // namespace

Result simulate(const Problem& problem, std::FILE* out) {
  const Kokkos::Timer total;
  Domain domain(problem, choose_devices(problem.devices));
  print_problem(out, problem, domain);
  if (out == stderr)
    for (const Part& part : domain.parts()) print_to_stderr(part.device);

  const SineSeries series(problem);
  evaluate(domain, series, &Part::u, SineSeries::Decay::none);
  const double initial = std::sqrt(domain.sum([](Part& part) { kernels::square(part, part.u); }));

  Result result;
  for (const Part& part : domain.parts()) result.devices.push_back(part.device.name);
  Solver solver(problem, domain);
  Snapshots snapshots(domain);
  snapshots.take(0);
  {
    Progress progress(out, problem.steps, domain);
    const auto interval = [&](int step) { return std::int64_t{pictures - 1} * step / problem.steps; };
    for (int step = 1; step <= problem.steps; ++step) {
      const Kokkos::Timer timer;
      const int iterations = solver.step();
      result.solve_seconds += timer.seconds();
      result.iterations += iterations;
      progress.step_done(iterations);
      if (interval(step) != interval(step - 1)) snapshots.take(step * problem.time_step());
    }
  }
  try {
    if (!problem.output.empty()) draw_picture(problem, snapshots.frames(), problem.output);
  } catch (const PictureError& error) {
    result.picture_error = error.what();  // the numbers are not lost for that
  }

  // Each solve may be off by the tolerance; rounding adds less than a part in 10^12 a step.
  result.error_bound = problem.steps * (problem.tolerance + 1e-12);
  result.error = distance(domain, series, SineSeries::Decay::scheme) / initial;
  result.discretisation = distance(domain, series, SineSeries::Decay::exact) / initial;
  if (result.solve_seconds > 0)
    result.bandwidth = result.iterations * solver.bytes_per_iteration() / result.solve_seconds;
  result.total_seconds = total.seconds();
  return result;
}

}  // namespace heat
