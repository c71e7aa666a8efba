// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One thread and a plain loop.

#include "limits/huge_array.hpp"

#include <benchmark/benchmark.h>

namespace {

void scan(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  const auto x = perf::make_huge_array(n, 1.0);
  const auto y = perf::make_huge_array(n, 0.0);
  for (auto _ : state) {
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i) y[static_cast<std::size_t>(i)] = sum += x[static_cast<std::size_t>(i)];
    benchmark::ClobberMemory();
  }
}
BENCHMARK(scan)->ArgName("n")->Arg(1'000)->Arg(10'000)->Arg(100'000)->Arg(1'000'000)->Arg(8'000'000)->UseRealTime();

}  // namespace
