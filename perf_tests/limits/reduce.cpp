// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "limits/sum.hpp"

#include <benchmark/benchmark.h>

#include <vector>

namespace {

void reduce(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  const std::vector<double> x(static_cast<std::size_t>(n), 1.0);
  for (auto _ : state) {
    double sum = perf::pool_sum(n, [data = x.data()](std::int64_t i) { return data[i]; });
    benchmark::DoNotOptimize(sum);
  }
}
BENCHMARK(reduce)->ArgName("n")->Arg(10'000)->Arg(100'000)->UseRealTime();

}  // namespace
