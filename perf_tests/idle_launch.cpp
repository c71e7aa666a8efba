// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A launch after the device has been idle, and beside a program that wants the same cores.

#include "support/attendance.hpp"
#include "support/cpu_hog.hpp"
#include "support/kokkos_bench.hpp"
#include "support/samples.hpp"

#include <sys/resource.h>

#include <thread>

namespace {

using namespace std::chrono_literals;

struct Attend {
  std::uint64_t launch;
  KOKKOS_FUNCTION void operator()(int) const { perf::Attendance::note(launch); }
};

std::uint64_t g_launch = 0;

void launch_and_fence(const perf::Space& space, int threads) {
  Kokkos::parallel_for(perf::Range(space, 0, threads), Attend{++g_launch});
  space.fence();
}

// Times one launch + fence after each pause of `idle`; the counter `attended` is 1 when all threads ran each launch.
void launch_after(benchmark::State& state, std::chrono::microseconds idle) {
  const perf::Space space;
  const int threads = space.concurrency();
  perf::Samples samples;
  perf::Attendance::reset();
  for (auto _ : state) {
    std::this_thread::sleep_for(idle);
    const auto start = perf::Clock::now();
    launch_and_fence(space, threads);
    samples.add(state, perf::seconds_since(start));
  }
  samples.report(state);
  state.counters["attended"] = perf::Attendance::share(static_cast<std::uint64_t>(state.iterations()), threads);
}

void after_idle(benchmark::State& state) { launch_after(state, 2ms); }
BENCHMARK(after_idle)->UseManualTime()->Iterations(perf::iterations(300));

// A program that computes for 200 us on one thread between its launches, while another process spins.
void with_hog(benchmark::State& state) {
  const perf::CpuHog hog;
  const perf::Space space;
  const int threads = space.concurrency();
  perf::Samples samples;
  for (auto _ : state) {
    const auto pause = perf::Clock::now();
    while (perf::Clock::now() - pause < 200us) {
    }
    const auto start = perf::Clock::now();
    launch_and_fence(space, threads);
    samples.add(state, perf::seconds_since(start));
  }
  samples.report(state);
}
BENCHMARK(with_hog)->UseManualTime()->Iterations(perf::iterations(1500));

void idle_with_hog(benchmark::State& state) {
  const perf::CpuHog hog;
  launch_after(state, 2ms);
}
BENCHMARK(idle_with_hog)->UseManualTime()->Iterations(perf::iterations(300));

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

// CPUs in use while the program waits elsewhere after a launch. The first 10 ms may be spent spinning.
void cpu_while_idle(benchmark::State& state) {
  const perf::Space space;
  double used = 0;
  double waited = 0;
  for (auto _ : state) {
    launch_and_fence(space, space.concurrency());
    std::this_thread::sleep_for(10ms);
    const double before = cpu_seconds();
    const auto start = perf::Clock::now();
    std::this_thread::sleep_for(100ms);
    const double elapsed = perf::seconds_since(start);
    used += cpu_seconds() - before;
    waited += elapsed;
    state.SetIterationTime(elapsed);
  }
  state.counters["cpus"] = used / waited;
}
BENCHMARK(cpu_while_idle)->UseManualTime()->Iterations(perf::iterations(3));

}  // namespace
