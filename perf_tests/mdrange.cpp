// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A seven-point stencil over a cube.

#include "support/kokkos_bench.hpp"

namespace {

void stencil(benchmark::State& state) {
  const int n = static_cast<int>(state.range(0));
  const auto edge = static_cast<std::size_t>(n);
  const perf::Space space;
  const Kokkos::View<double***, perf::Space> a("a", edge, edge, edge);
  const Kokkos::View<double***, perf::Space> b("b", edge, edge, edge);
  Kokkos::deep_copy(a, 1.0);
  using Cube = Kokkos::MDRangePolicy<perf::Space, Kokkos::Rank<3>>;
  for (auto _ : state) {
    Kokkos::parallel_for(
        Cube(space, {1, 1, 1}, {n - 1, n - 1, n - 1}), KOKKOS_LAMBDA(int i, int j, int k) {
          b(i, j, k) = 0.4 * a(i, j, k) + 0.1 * (a(i - 1, j, k) + a(i + 1, j, k) + a(i, j - 1, k) + a(i, j + 1, k) +
                                                 a(i, j, k - 1) + a(i, j, k + 1));
        });
    space.fence();
  }
}
BENCHMARK(stencil)->ArgName("edge")->Arg(64)->Arg(256)->UseRealTime();

}  // namespace
