// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <vector>

namespace perf {

using Clock = std::chrono::steady_clock;

/// Seconds since `start`.
inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Whether only a sign of life is wanted and no time (environment variable PERF_SMOKE).
inline bool smoke_only() {
  return std::getenv("PERF_SMOKE") != nullptr;
}

/// Iterations of a benchmark that has a fixed number of them.
inline benchmark::IterationCount iterations(benchmark::IterationCount wanted) {
  return smoke_only() ? 1 : wanted;
}

/// Single measurements of a benchmark with manual time, for figures about tails.
class Samples {
 public:
  /// Adds one measurement and hands it to the benchmark as the iteration's time.
  void add(benchmark::State& state, double seconds) {
    state.SetIterationTime(seconds);
    m_nanoseconds.push_back(seconds * 1e9);
  }

  /// Sets the counters p50_ns, p99_ns and max_ns.
  void report(benchmark::State& state) {
    if (m_nanoseconds.empty()) return;
    std::sort(m_nanoseconds.begin(), m_nanoseconds.end());
    state.counters["p50_ns"] = quantile(0.50);
    state.counters["p99_ns"] = quantile(0.99);
    state.counters["max_ns"] = m_nanoseconds.back();
  }

 private:
  double quantile(double part) const {
    return m_nanoseconds[static_cast<std::size_t>(part * static_cast<double>(m_nanoseconds.size() - 1) + 0.5)];
  }

  std::vector<double> m_nanoseconds;
};

}  // namespace perf
