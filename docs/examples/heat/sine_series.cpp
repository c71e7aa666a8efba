// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sine_series.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace heat {
namespace {

using std::numbers::pi;
using Table = Kokkos::View<double**, Kokkos::LayoutRight, Memory>;
using Cube = Kokkos::View<double***, Kokkos::LayoutRight, Memory>;

/// Modes beyond this one add less than 1e-8 to the sharpest hot spot; on a coarse grid its finest mode is the last.
int last_mode(const Problem& problem) {
  double width = 1;
  for (const HotSpot& spot : problem.hot_spots) width = std::min(width, spot.width);
  const int needed = static_cast<int>(std::ceil(6.1 / (pi * width)));
  return std::min(needed, std::ranges::min(problem.grid));
}

/// sin(mode pi x) at the points 0..n + 1 of one direction, of which `first` lie on other devices; `points` of them.
Table sines(const Space& space, int modes, int n, int first, int points) {
  Table table(Kokkos::view_alloc(space, "heat sines", Kokkos::WithoutInitializing), modes, points);
  auto host = Kokkos::create_mirror_view(table);
  for (int mode = 0; mode < modes; ++mode)
    for (int i = 0; i < points; ++i) {
      const int at = first + i;
      host(mode, i) = at == 0 || at == n + 1 ? 0.0 : std::sin((mode + 1) * pi * at / (n + 1));
    }
  Kokkos::deep_copy(space, table, host);
  space.fence("heat: sines");
  return table;
}

/// out(k, j, i) = sum over m of in(m, k, j) * table(m, i): replaces the first index, a mode, by a place.
void contract(const Space& space, const Cube& in, const Table& table, const Cube& out) {
  using Policy = Kokkos::MDRangePolicy<Space, Kokkos::Rank<3>, Kokkos::IndexType<int>>;
  const int modes = static_cast<int>(in.extent(0));
  Kokkos::parallel_for(
      "heat series", Policy(space, {0, 0, 0}, {int(out.extent(0)), int(out.extent(1)), int(out.extent(2))}),
      KOKKOS_LAMBDA(int k, int j, int i) {
        double sum = 0;
        for (int m = 0; m < modes; ++m) sum += in(m, k, j) * table(m, i);
        out(k, j, i) = sum;
      });
}

}  // namespace

SineSeries::SineSeries(const Problem& problem) : m_problem(problem), m_modes(last_mode(problem)) {
  const int n = m_modes;
  m_coefficients.assign(std::size_t(n) * n * n, 0.0);
  for (const HotSpot& spot : problem.hot_spots) {
    // A Gaussian with its mirror images of opposite sign behind the walls is a product of three such series.
    const auto factor = [&](int axis, int mode) {
      const double k = (mode + 1) * pi;
      return 2 * spot.width * std::sqrt(2 * pi) * std::sin(k * spot.at[axis]) *
             std::exp(-0.5 * std::pow(k * spot.width, 2));
    };
    std::size_t at = 0;
    for (int r = 0; r < n; ++r)
      for (int q = 0; q < n; ++q)
        for (int p = 0; p < n; ++p)
          m_coefficients[at++] += spot.temperature * factor(0, p) * factor(1, q) * factor(2, r);
  }
}

void SineSeries::evaluate(const Part& part, const Field& field, Decay decay) const {
  const Space& space = part.device.space;
  const Extent& extent = part.extent;
  const auto [nx, ny, nz] = m_problem.grid;
  const int n = m_modes;

  Cube modes(Kokkos::view_alloc(space, "heat modes", Kokkos::WithoutInitializing), n, n, n);
  auto host = Kokkos::create_mirror_view(modes);
  std::size_t at = 0;
  for (int r = 0; r < n; ++r)
    for (int q = 0; q < n; ++q)
      for (int p = 0; p < n; ++p) host(r, q, p) = m_coefficients[at++] * decay_of(decay, {p + 1, q + 1, r + 1});
  Kokkos::deep_copy(space, modes, host);

  const Table x = sines(space, n, nx, 0, nx + 2);
  const Table y = sines(space, n, ny, 0, ny + 2);
  const Table z = sines(space, n, nz, extent.first_z, extent.nz + 2);
  Cube with_z(Kokkos::view_alloc(space, "heat modes with z", Kokkos::WithoutInitializing), n, n, extent.nz + 2);
  Cube with_yz(Kokkos::view_alloc(space, "heat modes with yz", Kokkos::WithoutInitializing), n, extent.nz + 2, ny + 2);
  contract(space, modes, z, with_z);
  contract(space, with_z, y, with_yz);
  contract(space, with_yz, x, field.points);
  space.fence("heat: series");
}

double SineSeries::decay_of(Decay decay, const std::array<int, 3>& mode) const {
  if (decay == Decay::none) return 1;
  double eigenvalue = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const double cells = m_problem.grid[axis] + 1.0;
    const double wave = decay == Decay::exact ? mode[axis] * pi : 2 * cells * std::sin(mode[axis] * pi / (2 * cells));
    eigenvalue += m_problem.diffusivity * wave * wave;
  }
  if (decay == Decay::exact) return std::exp(-eigenvalue * m_problem.time);
  const double step = m_problem.time_step() * eigenvalue, theta = m_problem.theta();
  return std::pow((1 - (1 - theta) * step) / (1 + theta * step), m_problem.steps);
}

}  // namespace heat
