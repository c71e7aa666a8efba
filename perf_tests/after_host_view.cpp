// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel right after a host View was filled: that fill is an OpenMP region, and OpenMP's threads may still spin on
// the cores which the device wants.

#include "support/kokkos_bench.hpp"
#include "support/samples.hpp"

namespace {

void after_host_view(benchmark::State& state) {
  const int n = 10'000;
  const perf::Space space;
  const Kokkos::View<double*, perf::Space> a("a", n);
  perf::Samples samples;
  for (auto _ : state) {
    const Kokkos::View<double*, Kokkos::HostSpace> host("host", n);
    Kokkos::deep_copy(host, 1.0);
    const auto start = perf::Clock::now();
    Kokkos::parallel_for(
        perf::Range(space, 0, n), KOKKOS_LAMBDA(int i) { a(i) = 0.5 * a(i) + 1.0; });
    space.fence();
    samples.add(state, perf::seconds_since(start));
  }
  samples.report(state);
}
BENCHMARK(after_host_view)->UseManualTime()->Iterations(perf::iterations(500));

}  // namespace
