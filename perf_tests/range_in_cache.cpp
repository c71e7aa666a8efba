// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A loop over data that stays in the cores' caches: does the compiler still see a plain loop?

#include "support/kokkos_bench.hpp"

namespace {

void range_in_cache(benchmark::State& state) {
  const int n = static_cast<int>(state.range(0));
  const perf::Space space;
  const Kokkos::View<double*, perf::Space> x("x", static_cast<std::size_t>(n));
  const Kokkos::View<double*, perf::Space> y("y", static_cast<std::size_t>(n));
  Kokkos::deep_copy(x, 1.0);
  const double a = 1e-9;
  for (auto _ : state) {
    Kokkos::parallel_for(
        perf::Range(space, 0, n), KOKKOS_LAMBDA(int i) { y(i) = a * x(i) + y(i); });
    space.fence();
  }
  state.SetItemsProcessed(state.iterations() * n);
}
BENCHMARK(range_in_cache)->ArgName("n")->Arg(10'000)->UseRealTime();

}  // namespace
