// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernel called through a pointer, nothing else.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

namespace {

constexpr int launches = 1000;

void tiny_launches(benchmark::State& state) {
  std::vector<double> a(static_cast<std::size_t>(state.range(0)));
  auto kernel = +[](double* data, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) data[i] += 1.0;
  };
  for (auto _ : state) {
    for (int launch = 0; launch < launches; ++launch) {
      benchmark::DoNotOptimize(kernel);
      kernel(a.data(), state.range(0));
    }
    benchmark::ClobberMemory();
  }
}
BENCHMARK(tiny_launches)->ArgName("n")->Arg(1)->Arg(10)->Arg(100)->UseRealTime();

}  // namespace
