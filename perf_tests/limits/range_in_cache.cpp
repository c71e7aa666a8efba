// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "limits/spin_pool.hpp"

#include <benchmark/benchmark.h>

#include <vector>

namespace {

void range_in_cache(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  std::vector<double> x(static_cast<std::size_t>(n), 1.0);
  std::vector<double> y(static_cast<std::size_t>(n), 0.0);
  const double a = 1e-9;
  for (auto _ : state) {
    perf::SpinPool::get().run([a, n, from = x.data(), to = y.data()](int thread) {
      const perf::Half half(thread, n);
#pragma GCC ivdep
      for (std::int64_t i = half.begin; i < half.end; ++i) to[i] = a * from[i] + to[i];
    });
  }
  state.SetItemsProcessed(state.iterations() * n);
}
BENCHMARK(range_in_cache)->ArgName("n")->Arg(10'000)->UseRealTime();

}  // namespace
