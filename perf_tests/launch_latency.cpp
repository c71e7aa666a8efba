// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a launch and the fence behind it cost when there is nothing to compute.

#include "support/kokkos_bench.hpp"
#include "support/rtt.hpp"
#include "support/shared_work.hpp"

namespace {

struct Empty {
  KOKKOS_FUNCTION void operator()(int) const {}
};

struct Shared {
  perf::SharedWork work;
  KOKKOS_FUNCTION void operator()(int) const { work.run(); }
};

// One item a thread and nothing to do: a runtime may run it where it is launched.
void launch_fence(benchmark::State& state) {
  const perf::Space space;
  const int threads = space.concurrency();
  for (auto _ : state) {
    Kokkos::parallel_for(perf::Range(space, 0, threads), Empty{});
    space.fence();
  }
}
BENCHMARK(launch_fence)->UseRealTime();

// On a virtual machine the round trip changes fivefold from one second to the next, so it is measured on both sides of
// the launches; only where it can be: a runtime whose threads sleep leaves it the cores.
double rtt_now() {
#ifdef PERF_SIDE_GANTRY
  return perf::smoke_only() ? 0 : perf::measure_rtt();
#else
  return 0;
#endif
}

// The counter `latency_ns` is what a launch takes beyond its work.
void launch_fence_shared(benchmark::State& state) {
  const perf::Space space;
  const double before = rtt_now();
  perf::measure_shared_launches(state, space.concurrency(), [&](const perf::SharedWork& work) {
    Kokkos::parallel_for(perf::Range(space, 0, space.concurrency()), Shared{work});
    space.fence();
  });
  state.counters["rtt_ns"] = 0.5 * (before + rtt_now());
}
BENCHMARK(launch_fence_shared)->UseRealTime();

void front_end(benchmark::State& state) {
  const Kokkos::OpenMP space;
  for (auto _ : state) perf::call_front_end(space, 1, Empty{});
}
BENCHMARK(front_end)->UseRealTime();

void fence_idle(benchmark::State& state) {
  const perf::Space space;
  for (auto _ : state) space.fence();
}
BENCHMARK(fence_idle)->UseRealTime();

}  // namespace
