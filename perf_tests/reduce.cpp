// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sum of an array into a host scalar: launch, reduction and the wait for the result.

#include "support/kokkos_bench.hpp"

namespace {

void reduce(benchmark::State& state) {
  const int n = static_cast<int>(state.range(0));
  const perf::Space space;
  const Kokkos::View<double*, perf::Space> x("x", static_cast<std::size_t>(n));
  Kokkos::deep_copy(x, 1.0);
  double sum = 0;
  for (auto _ : state) {
    Kokkos::parallel_reduce(
        perf::Range(space, 0, n), KOKKOS_LAMBDA(int i, double& part) { part += x(i); }, sum);
    benchmark::DoNotOptimize(sum);
  }
  if (sum != n) state.SkipWithError("wrong sum");
}
BENCHMARK(reduce)->ArgName("n")->Arg(10'000)->Arg(100'000)->UseRealTime();

}  // namespace
