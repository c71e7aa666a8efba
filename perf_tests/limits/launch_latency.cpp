// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "limits/spin_pool.hpp"
#include "support/attendance.hpp"

#include <benchmark/benchmark.h>

namespace {

std::uint64_t g_launch = 0;

void launch_fence(benchmark::State& state) {
  perf::SpinPool& pool = perf::SpinPool::get();
  perf::Attendance::reset();
  for (auto _ : state) {
    ++g_launch;
    pool.run([](int) { perf::Attendance::note(g_launch); });
  }
  state.counters["attended"] = perf::Attendance::share(static_cast<std::uint64_t>(state.iterations()), pool.threads);
}
BENCHMARK(launch_fence)->UseRealTime();

}  // namespace
