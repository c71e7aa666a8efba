// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a launch and the fence behind it cost when there is nothing to compute.

#include "support/attendance.hpp"
#include "support/kokkos_bench.hpp"

namespace {

struct Attend {
  std::uint64_t launch;
  KOKKOS_FUNCTION void operator()(int) const { perf::Attendance::note(launch); }
};

std::uint64_t g_launch = 0;

// One item a thread. The counter `attended` is 1 when every launch was run by all threads.
void launch_fence(benchmark::State& state) {
  const perf::Space space;
  const int threads = space.concurrency();
  perf::Attendance::reset();
  for (auto _ : state) {
    Kokkos::parallel_for(perf::Range(space, 0, threads), Attend{++g_launch});
    space.fence();
  }
  state.counters["attended"] = perf::Attendance::share(static_cast<std::uint64_t>(state.iterations()), threads);
}
BENCHMARK(launch_fence)->UseRealTime();

void front_end(benchmark::State& state) {
  const Kokkos::OpenMP space;
  for (auto _ : state) {
    Kokkos::parallel_for(Kokkos::RangePolicy<Kokkos::OpenMP>(space, 0, 1), perf::FrontEndOnly{});
  }
}
BENCHMARK(front_end)->UseRealTime();

void fence_idle(benchmark::State& state) {
  const perf::Space space;
  for (auto _ : state) space.fence();
}
BENCHMARK(fence_idle)->UseRealTime();

}  // namespace
