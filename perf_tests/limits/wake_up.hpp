// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "support/rtt.hpp"
#include "support/samples.hpp"

#include <benchmark/benchmark.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

namespace perf {

/// A thread on the second CPU that always sleeps in a futex, woken every 2 ms; the time until it has answered.
inline void wake_up(benchmark::State& state) {
  constexpr std::uint32_t last = ~0U;
  std::atomic<std::uint32_t> post{0};
  std::atomic<std::uint32_t> done{0};
  std::thread sleeper([&] {
    pin_to_cpu(1);
    for (std::uint32_t seen = 0; seen != last;) {
      post.wait(seen);
      seen = post.load();
      done.store(seen, std::memory_order_release);
    }
  });
  pin_to_cpu(0);
  const auto wake = [&](std::uint32_t number) {
    post.store(number, std::memory_order_release);
    post.notify_one();
    while (done.load(std::memory_order_acquire) != number) pause();
  };
  Samples samples;
  std::uint32_t number = 0;
  for (auto _ : state) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const auto start = Clock::now();
    wake(++number);
    samples.add(state, seconds_since(start));
  }
  samples.report(state);
  wake(last);
  sleeper.join();
}

}  // namespace perf
