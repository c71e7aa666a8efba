// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A launch after the device has been idle, and beside a program that wants the same cores.

#include "support/cpu_hog.hpp"
#include "support/kokkos_bench.hpp"
#include "support/shared_work.hpp"

#include <sys/resource.h>

#include <thread>

namespace {

using namespace std::chrono_literals;

struct Shared {
  perf::SharedWork work;
  KOKKOS_FUNCTION void operator()(int) const { work.run(); }
};

void launch_and_fence(const perf::Space& space, std::uint64_t number) {
  Kokkos::parallel_for(perf::Range(space, 0, space.concurrency()), Shared{perf::SharedWork(number, 1)});
  space.fence();
}

// Times one launch + fence after each pause; half a microsecond of it is the kernel's. The counter `attended` is 1 when
// all threads took part in each launch: where one comes late, another may do its work.
template <class Pause>
void launch_after(benchmark::State& state, const Pause& pause) {
  const perf::Space space;
  std::uint64_t number = 0;
  while (number < 100) launch_and_fence(space, ++number);
  perf::Samples samples;
  perf::Attendance::reset();
  for (auto _ : state) {
    pause();
    const auto start = perf::Clock::now();
    launch_and_fence(space, ++number);
    samples.add(state, perf::seconds_since(start));
  }
  samples.report(state);
  state.counters["attended"] =
      perf::Attendance::share(static_cast<std::uint64_t>(state.iterations()), space.concurrency());
}

void sleep_2ms() {
  std::this_thread::sleep_for(2ms);
}

void compute_200us() {
  const auto start = perf::Clock::now();
  while (perf::Clock::now() - start < 200us) {
  }
}

void after_idle(benchmark::State& state) {
  launch_after(state, sleep_2ms);
}
BENCHMARK(after_idle)->UseManualTime()->Iterations(perf::iterations(300));

// The program computes on one thread between its launches, while another process spins.
void with_hog(benchmark::State& state) {
  const perf::CpuHog hog;
  launch_after(state, compute_200us);
}
BENCHMARK(with_hog)->UseManualTime()->Iterations(perf::iterations(1500));

void idle_with_hog(benchmark::State& state) {
  const perf::CpuHog hog;
  launch_after(state, sleep_2ms);
}
BENCHMARK(idle_with_hog)->UseManualTime()->Iterations(perf::iterations(300));

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

// CPUs in use while the program waits elsewhere, from 10 ms after a launch on.
void cpu_while_idle(benchmark::State& state) {
  const perf::Space space;
  double used = 0;
  double waited = 0;
  for (auto _ : state) {
    launch_and_fence(space, 0);
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
