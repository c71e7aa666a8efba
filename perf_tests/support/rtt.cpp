// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/rtt.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

namespace perf {
namespace {

// The parent's mask is the one this process was given: with OMP_PROC_BIND libgomp narrows our own before main runs.
const cpu_set_t& process_mask() {
  static const cpu_set_t mask = [] {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(getppid(), sizeof(set), &set) != 0) sched_getaffinity(0, sizeof(set), &set);
    return set;
  }();
  return mask;
}

struct alignas(128) Ball {
  std::atomic<std::uint32_t> value{0};
};

void play(Ball& ball, std::uint32_t parity, std::uint32_t hits) {
  for (std::uint32_t hit = 0; hit < hits; ++hit) {
    const std::uint32_t mine = 2 * hit + parity;
    while (ball.value.load(std::memory_order_acquire) != mine) pause();
    ball.value.store(mine + 1, std::memory_order_release);
  }
}

}  // namespace

int cpu_count() {
  return CPU_COUNT(&process_mask());
}

bool pin_to_cpu(int n) {
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &process_mask()) || n-- > 0) continue;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    return sched_setaffinity(0, sizeof(set), &set) == 0;
  }
  return false;
}

double measure_rtt() {
  constexpr std::uint32_t round_trips = 5000;
  if (cpu_count() < 2) return 0;
  std::array<double, 9> samples{};
  for (double& sample : samples) {
    Ball ball;
    std::atomic<int> ready{0};
    auto meet = [&ready] {
      ready.fetch_add(1);
      while (ready.load() < 2) pause();
    };
    std::thread far([&] {
      pin_to_cpu(1);
      meet();
      play(ball, 1, round_trips);
    });
    std::thread near([&] {
      pin_to_cpu(0);
      meet();
      const auto start = std::chrono::steady_clock::now();
      play(ball, 0, round_trips);
      const std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - start;
      sample = elapsed.count() / round_trips;
    });
    near.join();
    far.join();
  }
  std::nth_element(samples.begin(), samples.begin() + samples.size() / 2, samples.end());
  return samples[samples.size() / 2];
}

}  // namespace perf
