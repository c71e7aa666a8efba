// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A line printed by a kernel: what its thread pays, and what it takes until the text is out, by two threads at once.

#include <gantry/device/printf.hpp>
#include <gantry/rpc/sink.hpp>

#include "support/rpc_bench.hpp"
#include "support/samples.hpp"

#include <benchmark/benchmark.h>

#include <thread>

namespace {

using perf::CallingDevice;

void print_line(int i) {
  gantry::printf("cell %d: residual %g after %d steps\n", i, 0.5 * i, 7);
}

void to_nowhere() {
  gantry::rpc::Output output;
  output.kind = gantry::rpc::Output::Kind::file;
  output.path = "/dev/null";
  gantry::rpc::set_output(0, output).ignore();
}

/// What the caller pays, a few lines at a time: there is room.
void line_of_the_caller(benchmark::State& state) {
  to_nowhere();
  perf::pin_to_cpu(0);
  CallingDevice device(3);
  const CallingDevice::Kernel kernel(device);
  constexpr int burst = 16;
  for (auto _ : state) {
    const auto start = perf::Clock::now();
    for (int i = 0; i < burst; ++i) print_line(i);
    state.SetIterationTime(perf::seconds_since(start) / burst);
    device.flush();
  }
}
BENCHMARK(line_of_the_caller)->Iterations(perf::iterations(20'000))->UseManualTime();

/// Two threads print, until all of it is out; the time of one line.
void lines(benchmark::State& state) {
  to_nowhere();
  CallingDevice device(3);
  constexpr int lines = 20'000;
  for (auto _ : state) {
    const auto start = perf::Clock::now();
    const auto print = [&](std::uint32_t slot) {
      const CallingDevice::Kernel kernel(device, slot);
      for (int i = 0; i < lines; ++i) print_line(i);
    };
    std::thread other(print, 1);
    print(0);
    other.join();
    device.flush();
    state.SetIterationTime(perf::seconds_since(start) / (2 * lines));
  }
}
BENCHMARK(lines)->Iterations(perf::iterations(10))->UseManualTime();

}  // namespace
