// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// 1000 launches of a kernel too small to share, then one fence.

#include "support/kokkos_bench.hpp"

namespace {

constexpr int launches = 1000;

void tiny_launches(benchmark::State& state) {
  const int n = static_cast<int>(state.range(0));
  const perf::Space space;
  Kokkos::View<double*, perf::Space> a("a", static_cast<std::size_t>(n));
  for (auto _ : state) {
    for (int launch = 0; launch < launches; ++launch) {
      Kokkos::parallel_for(
          perf::Range(space, 0, n), KOKKOS_LAMBDA(int i) { a(i) += 1.0; });
    }
    space.fence();
  }
}
BENCHMARK(tiny_launches)->ArgName("n")->Arg(1)->Arg(10)->Arg(100)->UseRealTime();

void front_end(benchmark::State& state) {
  const Kokkos::OpenMP space;
  const Kokkos::View<double*, perf::Space> a("a", 100);
  for (auto _ : state) {
    for (int launch = 0; launch < launches; ++launch) {
      perf::call_front_end(
          space, 100, KOKKOS_LAMBDA(int i) { a(i) += 1.0; });
    }
  }
}
BENCHMARK(front_end)->UseRealTime();

}  // namespace
