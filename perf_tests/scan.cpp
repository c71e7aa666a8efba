// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The running sum of an array, written to another one.

#include "support/kokkos_bench.hpp"

namespace {

void scan(benchmark::State& state) {
  const int n = static_cast<int>(state.range(0));
  const perf::Space space;
  const Kokkos::View<double*, perf::Space> x("x", static_cast<std::size_t>(n));
  const Kokkos::View<double*, perf::Space> y("y", static_cast<std::size_t>(n));
  Kokkos::deep_copy(x, 1.0);
  for (auto _ : state) {
    Kokkos::parallel_scan(
        perf::Range(space, 0, n), KOKKOS_LAMBDA(int i, double& sum, bool last) {
          sum += x(i);
          if (last) y(i) = sum;
        });
    space.fence();
  }
  double total = 0;
  Kokkos::deep_copy(total, Kokkos::subview(y, n - 1));
  if (total != n) state.SkipWithError("wrong sum");
}
BENCHMARK(scan)->ArgName("n")->Arg(1'000)->Arg(10'000)->Arg(100'000)->Arg(1'000'000)->Arg(8'000'000)->UseRealTime();

}  // namespace
