// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls from a kernel to the host: there and back, one way, many ahead, after the server slept, beside a slow handler.

#include <gantry/device/call.hpp>
#include <gantry/rpc/handlers.hpp>

#include "support/rpc_bench.hpp"
#include "support/samples.hpp"

#include <benchmark/benchmark.h>

#include <time.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>

namespace {

using perf::CallingDevice;

constexpr std::uint32_t few_ports = 3;

void call(benchmark::State& state) {
  perf::pin_to_cpu(0);
  CallingDevice device(static_cast<std::uint32_t>(state.range(0)));
  const CallingDevice::Kernel kernel(device);
  std::uint64_t value = 0;
  for (auto _ : state) {
    if (gantry::call_echo(value) != gantry::rpc::Answer::ok) state.SkipWithError("no answer");
  }
}
BENCHMARK(call)->ArgName("ports")->Arg(1)->Arg(4096)->UseRealTime();

/// As call, with a handler of the program.
void user_call(benchmark::State& state) {
  perf::pin_to_cpu(0);
  gantry::rpc::add_handler("", 1, [](gantry::rpc::Call&) { return gantry::Status(); }).ignore();
  CallingDevice device(few_ports);
  const CallingDevice::Kernel kernel(device);
  std::uint64_t value = 0;
  for (auto _ : state) {
    if (gantry::call_host(1, value) != gantry::rpc::Answer::ok) state.SkipWithError("no answer");
  }
  gantry::rpc::remove_handler("", 1).ignore();
}
BENCHMARK(user_call)->UseRealTime();

/// What the caller pays for calls that it does not wait for, a few at a time: there is room.
void one_way(benchmark::State& state) {
  perf::pin_to_cpu(0);
  CallingDevice device(few_ports);
  const CallingDevice::Kernel kernel(device);
  constexpr int burst = 32;
  std::uint64_t value = 0;
  for (auto _ : state) {
    const auto start = perf::Clock::now();
    for (int i = 0; i < burst; ++i) gantry::post_echo(value);
    state.SetIterationTime(perf::seconds_since(start) / burst);
    device.flush();
  }
}
BENCHMARK(one_way)->Iterations(perf::iterations(20'000))->UseManualTime();

/// As many as the ring holds ahead of the server: what both sides together can do.
void pipelined(benchmark::State& state) {
  perf::pin_to_cpu(0);
  CallingDevice device(few_ports);
  const CallingDevice::Kernel kernel(device);
  std::uint64_t value = 0;
  for (auto _ : state) gantry::post_echo(++value);
  device.flush();
}
BENCHMARK(pipelined)->UseRealTime();

void call_after_idle(benchmark::State& state) {
  perf::pin_to_cpu(0);
  CallingDevice device(few_ports);
  const CallingDevice::Kernel kernel(device);
  std::uint64_t value = 0;
  perf::Samples samples;
  for (auto _ : state) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const auto start = perf::Clock::now();
    if (gantry::call_echo(value) != gantry::rpc::Answer::ok) state.SkipWithError("no answer");
    samples.add(state, perf::seconds_since(start));
  }
  samples.report(state);
}
BENCHMARK(call_after_idle)->Iterations(perf::iterations(300))->UseManualTime();

double process_cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// CPUs in use while a kernel runs that makes no call; with a lease, as for a device whose code cannot wake the server.
void silent_kernel(benchmark::State& state) {
  CallingDevice device(few_ports);
  std::uint64_t value = 0;
  {
    const CallingDevice::Kernel kernel(device);
    if (gantry::call_echo(value) != gantry::rpc::Answer::ok) state.SkipWithError("no answer");
  }
  std::optional<gantry::rpc::Server::Lease> lease;
  if (state.range(0) != 0) lease.emplace(CallingDevice::server());
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  for (auto _ : state) {
    const double before = process_cpu_seconds();
    const auto start = perf::Clock::now();
    std::this_thread::sleep_for(perf::smoke_only() ? std::chrono::milliseconds(1) : std::chrono::seconds(10));
    const double seconds = perf::seconds_since(start);
    state.SetIterationTime(seconds);
    state.counters["cpus"] = (process_cpu_seconds() - before) / seconds;
  }
}
BENCHMARK(silent_kernel)->ArgName("lease")->Arg(0)->Arg(1)->Iterations(1)->Repetitions(1)->UseManualTime();

/// A device's calls while the handler of another device's call takes 50 ms.
void call_beside_a_slow_handler(benchmark::State& state) {
  static std::atomic<bool> slow{false};
  gantry::rpc::add_handler("", 2, [](gantry::rpc::Call&) {
    slow.store(true);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return gantry::Status();
  }).ignore();
  CallingDevice one(few_ports, "one", 0);
  CallingDevice other(few_ports, "other", 1);
  const CallingDevice::Kernel kernel(other);
  std::uint64_t value = 0;
  perf::Samples samples;
  for (auto _ : state) {
    slow.store(false);
    {
      const CallingDevice::Kernel of_one(one);
      gantry::post_host(2, value);
    }
    while (!slow.load()) std::this_thread::yield();
    const auto start = perf::Clock::now();
    if (gantry::call_echo(value) != gantry::rpc::Answer::ok) state.SkipWithError("no answer");
    samples.add(state, perf::seconds_since(start));
    one.flush();
  }
  samples.report(state);
  gantry::rpc::remove_handler("", 2).ignore();
}
BENCHMARK(call_beside_a_slow_handler)->Iterations(perf::iterations(20))->UseManualTime();

}  // namespace
