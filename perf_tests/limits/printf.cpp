// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C library's fprintf by two threads on one stream.

#include "support/samples.hpp"

#include <benchmark/benchmark.h>

#include <cstdio>
#include <thread>

namespace {

void lines(benchmark::State& state) {
  std::FILE* file = std::fopen("/dev/null", "we");
  constexpr int lines = 20'000;
  const auto print = [&] {
    for (int i = 0; i < lines; ++i) std::fprintf(file, "cell %d: residual %g after %d steps\n", i, 0.5 * i, 7);
  };
  for (auto _ : state) {
    const auto start = perf::Clock::now();
    std::thread other(print);
    print();
    other.join();
    std::fflush(file);
    state.SetIterationTime(perf::seconds_since(start) / (2 * lines));
  }
  std::fclose(file);
}
BENCHMARK(lines)->Iterations(perf::iterations(10))->UseManualTime();

}  // namespace
