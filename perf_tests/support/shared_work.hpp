// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "support/attendance.hpp"
#include "support/samples.hpp"

#include <cstdint>

namespace perf {

/// A kernel of one item a thread, each item a chain of dependent multiplications in registers: long enough that no
/// runtime runs all of it on one thread. Attendance proves that all threads take part.
class SharedWork {
 public:
  SharedWork(std::uint64_t launch, int length) : m_launch(launch), m_steps(length * steps) {}

  void run() const {
    Attendance::note(m_launch);
    std::uint64_t value = m_launch;
    for (int step = 0; step < m_steps; ++step) {
      value *= 0x9e3779b97f4a7c15U;
      asm volatile("" : "+r"(value));
    }
  }

 private:
  static constexpr int steps = 500;
  std::uint64_t m_launch;
  int m_steps;
};

/// Times launch(work), which runs work.run() on `threads` threads and waits. Sets the counters latency_ns, what a
/// launch takes beyond its work, and attended, 1 when all threads took part in all launches.
///
/// Launches of simple and of double length take turns: twice the time of the first less that of the second is what does
/// not depend on the work, at whatever speed the cores run.
template <class Launch>
void measure_shared_launches(benchmark::State& state, int threads, const Launch& launch) {
  constexpr int in_a_row = 64;
  std::uint64_t number = 0;
  const auto time = [&](int length) {
    const auto start = Clock::now();
    for (int i = 0; i < in_a_row; ++i) launch(SharedWork(++number, length));
    return seconds_since(start);
  };
  time(1);
  time(2);
  Attendance::reset();
  double simple = 0;
  double twice = 0;
  for (auto _ : state) {
    simple += time(1);
    twice += time(2);
  }
  const double launches = in_a_row * static_cast<double>(state.iterations());
  state.counters["attended"] = Attendance::share(2 * in_a_row * state.iterations(), threads);
  state.counters["latency_ns"] = 1e9 * (2 * simple - twice) / launches;
}

}  // namespace perf
