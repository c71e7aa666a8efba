// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory bandwidth: arrays of 64 MB, twice the size of the last-level cache or more on most machines.

#include "support/kokkos_bench.hpp"

namespace {

constexpr std::size_t n = 64 * 1024 * 1024 / sizeof(double);
using Array = Kokkos::View<double*, perf::Space>;

void count_bytes(benchmark::State& state, int arrays) {
  state.SetBytesProcessed(state.iterations() * arrays * static_cast<std::int64_t>(n * sizeof(double)));
}

void triad(benchmark::State& state) {
  const perf::Space space;
  const Array a("a", n);
  const Array b("b", n);
  const Array c("c", n);
  Kokkos::deep_copy(b, 1.0);
  Kokkos::deep_copy(c, 2.0);
  const double scalar = 3.0;
  for (auto _ : state) {
    Kokkos::parallel_for(
        perf::Range(space, 0, n), KOKKOS_LAMBDA(int i) { a(i) = b(i) + scalar * c(i); });
    space.fence();
  }
  count_bytes(state, 3);
}
BENCHMARK(triad)->UseRealTime();

void dot(benchmark::State& state) {
  const perf::Space space;
  const Array a("a", n);
  const Array b("b", n);
  Kokkos::deep_copy(a, 1.0);
  Kokkos::deep_copy(b, 2.0);
  for (auto _ : state) {
    double sum = 0;
    Kokkos::parallel_reduce(
        perf::Range(space, 0, n), KOKKOS_LAMBDA(int i, double& part) { part += a(i) * b(i); }, sum);
    benchmark::DoNotOptimize(sum);
  }
  count_bytes(state, 2);
}
BENCHMARK(dot)->UseRealTime();

void copy(benchmark::State& state) {
  const Array a("a", n);
  const Array b("b", n);
  Kokkos::deep_copy(b, 1.0);
  for (auto _ : state) Kokkos::deep_copy(a, b);
  count_bytes(state, 2);
}
BENCHMARK(copy)->UseRealTime();

void fill(benchmark::State& state) {
  const Array a("a", n);
  double value = 0;
  for (auto _ : state) Kokkos::deep_copy(a, value += 1.0);
  count_bytes(state, 1);
}
BENCHMARK(fill)->UseRealTime();

void fill_zero(benchmark::State& state) {
  const Array a("a", n);
  for (auto _ : state) Kokkos::deep_copy(a, 0.0);
  count_bytes(state, 1);
}
BENCHMARK(fill_zero)->UseRealTime();

}  // namespace
