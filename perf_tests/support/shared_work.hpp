// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "support/attendance.hpp"
#include "support/samples.hpp"

#include <cstdint>

namespace perf {

/// A kernel of one item a thread, each item a chain of dependent multiplications that takes some microseconds in
/// registers: long enough that no runtime runs all of it on one thread, and of a known length, which is subtracted from
/// what is measured. What is left is what launch and fence cost when all threads take part; Attendance proves that.
class SharedWork {
 public:
  explicit SharedWork(std::uint64_t launch) : m_launch(launch) {}

  void run() const {
    Attendance::note(m_launch);
    work(m_launch);
  }

  /// Seconds that one item takes, measured on the calling thread: the shortest of several runs.
  static double seconds() {
    double shortest = 1;
    for (int sample = 0; sample < 50; ++sample) {
      constexpr int runs = 10;
      const auto start = Clock::now();
      for (int run = 0; run < runs; ++run) work(1);
      shortest = std::min(shortest, seconds_since(start) / runs);
    }
    return shortest;
  }

 private:
  static void work(std::uint64_t value) {
    for (int step = 0; step < steps; ++step) {
      value *= 0x9e3779b97f4a7c15U;
      asm volatile("" : "+r"(value));
    }
  }

  static constexpr int steps = 5000;
  std::uint64_t m_launch;
};

/// Times launch(work), which runs work.run() on `threads` threads and waits. Sets the counters latency_ns, what a
/// launch takes beyond its work, and attended, 1 when all threads took part in all launches.
template <class Launch>
void measure_shared_launches(benchmark::State& state, int threads, const Launch& launch) {
  std::uint64_t number = 0;
  for (int warm_up = 0; warm_up < 100; ++warm_up) launch(SharedWork(++number));
  const double before = SharedWork::seconds();
  Attendance::reset();
  const auto start = Clock::now();
  for (auto _ : state) launch(SharedWork(++number));
  const auto launches = static_cast<std::uint64_t>(state.iterations());
  const double seconds = seconds_since(start) / static_cast<double>(launches);
  state.counters["attended"] = Attendance::share(launches, threads);
  state.counters["latency_ns"] = 1e9 * (seconds - 0.5 * (before + SharedWork::seconds()));
}

}  // namespace perf
