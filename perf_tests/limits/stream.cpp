// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two pinned threads, huge pages, stores that do not read the line first.

#include "limits/huge_array.hpp"
#include "limits/spin_pool.hpp"
#include "limits/sum.hpp"

#include <benchmark/benchmark.h>

#if defined(__AVX__)
#include <immintrin.h>
#endif

namespace {

constexpr std::int64_t n = 64 * 1024 * 1024 / sizeof(double);

// to[i] = value(i), a line at a time where the processor can do so.
template <class Value>
void stream_out(double* to, perf::Half half, Value value) {
#if defined(__AVX__)
  for (std::int64_t i = half.begin; i < half.end; i += 8) {
    _mm256_stream_pd(to + i, _mm256_setr_pd(value(i), value(i + 1), value(i + 2), value(i + 3)));
    _mm256_stream_pd(to + i + 4, _mm256_setr_pd(value(i + 4), value(i + 5), value(i + 6), value(i + 7)));
  }
  _mm_sfence();
#else
  for (std::int64_t i = half.begin; i < half.end; ++i) to[i] = value(i);
#endif
}

void count_bytes(benchmark::State& state, int arrays) {
  state.SetBytesProcessed(state.iterations() * arrays * n * static_cast<std::int64_t>(sizeof(double)));
}

void triad(benchmark::State& state) {
  auto a = perf::make_huge_array(n, 0.0);
  auto b = perf::make_huge_array(n, 1.0);
  auto c = perf::make_huge_array(n, 2.0);
  const double scalar = 3.0;
  for (auto _ : state) {
    perf::SpinPool::get().run([&, to = a.get(), first = b.get(), second = c.get()](int thread) {
      stream_out(to, {thread, n}, [&](std::int64_t i) { return first[i] + scalar * second[i]; });
    });
  }
  count_bytes(state, 3);
}
BENCHMARK(triad)->UseRealTime();

void dot(benchmark::State& state) {
  auto a = perf::make_huge_array(n, 1.0);
  auto b = perf::make_huge_array(n, 2.0);
  for (auto _ : state) {
    double sum = perf::pool_sum(n, [x = a.get(), y = b.get()](std::int64_t i) { return x[i] * y[i]; });
    benchmark::DoNotOptimize(sum);
  }
  count_bytes(state, 2);
}
BENCHMARK(dot)->UseRealTime();

void copy(benchmark::State& state) {
  auto a = perf::make_huge_array(n, 0.0);
  auto b = perf::make_huge_array(n, 1.0);
  for (auto _ : state) {
    perf::SpinPool::get().run([to = a.get(), from = b.get()](int thread) {
      stream_out(to, {thread, n}, [&](std::int64_t i) { return from[i]; });
    });
  }
  count_bytes(state, 2);
}
BENCHMARK(copy)->UseRealTime();

void fill(benchmark::State& state) {
  auto a = perf::make_huge_array(n, 0.0);
  double value = 0;
  for (auto _ : state) {
    value += 1.0;
    perf::SpinPool::get().run([to = a.get(), value](int thread) {
      stream_out(to, {thread, n}, [value](std::int64_t) { return value; });
    });
  }
  count_bytes(state, 1);
}
BENCHMARK(fill)->UseRealTime();
BENCHMARK(fill)->Name("fill_zero")->UseRealTime();

}  // namespace
