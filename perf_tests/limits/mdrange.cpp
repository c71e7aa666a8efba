// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Three nested loops, the outer one halved between two threads.

#include "limits/huge_array.hpp"
#include "limits/spin_pool.hpp"

#include <benchmark/benchmark.h>

namespace {

void stencil(benchmark::State& state) {
  const std::int64_t n = state.range(0);
  const auto from = perf::make_huge_array(n * n * n, 1.0);
  const auto to = perf::make_huge_array(n * n * n, 0.0);
  for (auto _ : state) {
    perf::SpinPool::get().run([n, a = from.get(), b = to.get()](int thread) {
      const perf::Half half(thread, n - 2);
      for (std::int64_t i = half.begin + 1; i < half.end + 1; ++i) {
        for (std::int64_t j = 1; j < n - 1; ++j) {
          const std::int64_t row = (i * n + j) * n;
#pragma GCC ivdep
          for (std::int64_t c = row + 1; c < row + n - 1; ++c) {
            b[c] = 0.4 * a[c] + 0.1 * (a[c - n * n] + a[c + n * n] + a[c - n] + a[c + n] + a[c - 1] + a[c + 1]);
          }
        }
      }
    });
  }
}
BENCHMARK(stencil)->ArgName("edge")->Arg(64)->Arg(256)->UseRealTime();

}  // namespace
