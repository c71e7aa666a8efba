// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The least that calls between two pinned, spinning threads can be: a mailbox of one cache line, a ring of them.

#include "support/rtt.hpp"

#include <benchmark/benchmark.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>

namespace {

/// One line that goes there and back: turn, payload.
void call(benchmark::State& state) {
  struct alignas(64) Mailbox {
    std::atomic<std::uint64_t> turn{0};
    std::uint64_t payload[7] = {};
  };
  static Mailbox mailbox;
  std::atomic<bool> stop{false};
  perf::pin_to_cpu(0);
  std::uint64_t turn = mailbox.turn.load();
  std::thread server([&, turn]() mutable {
    perf::pin_to_cpu(1);
    while (!stop.load(std::memory_order_relaxed)) {
      if (mailbox.turn.load(std::memory_order_acquire) != turn + 1) {
        perf::pause();
        continue;
      }
      mailbox.payload[0] += 1;
      mailbox.turn.store(turn += 2, std::memory_order_release);
    }
  });
  for (auto _ : state) {
    mailbox.payload[0] = turn;
    mailbox.turn.store(turn + 1, std::memory_order_release);
    while (mailbox.turn.load(std::memory_order_acquire) != turn + 2) perf::pause();
    turn += 2;
  }
  stop.store(true);
  server.join();
}
BENCHMARK(call)->ArgName("ports")->Arg(1)->UseRealTime();

/// A ring of 64 lines with one producer and one consumer, each of which reads the other's place when it has to.
void pipelined(benchmark::State& state) {
  struct alignas(64) Line {
    std::uint64_t words[8];
  };
  struct Ring {
    std::array<Line, 64> lines{};
    alignas(64) std::atomic<std::uint64_t> written{0};
    alignas(64) std::atomic<std::uint64_t> read{0};
  };
  static Ring ring;
  std::atomic<bool> stop{false};
  perf::pin_to_cpu(0);
  std::thread consumer([&] {
    perf::pin_to_cpu(1);
    std::uint64_t place = ring.read.load();
    std::uint64_t sum = 0;
    while (!stop.load(std::memory_order_relaxed)) {
      const std::uint64_t end = ring.written.load(std::memory_order_acquire);
      if (end == place) {
        perf::pause();
        continue;
      }
      for (; place != end; ++place) sum += ring.lines[place % 64].words[0];
      ring.read.store(place, std::memory_order_release);
    }
    benchmark::DoNotOptimize(sum);
  });
  std::uint64_t place = ring.written.load();
  std::uint64_t known = ring.read.load();
  for (auto _ : state) {
    while (place - known == 64) {
      known = ring.read.load(std::memory_order_acquire);
      if (place - known == 64) perf::pause();
    }
    Line& line = ring.lines[place % 64];
    for (std::uint64_t& word : line.words) word = place;
    ring.written.store(++place, std::memory_order_release);
  }
  while (ring.read.load(std::memory_order_acquire) != place) perf::pause();
  stop.store(true);
  consumer.join();
}
BENCHMARK(pipelined)->UseRealTime();

}  // namespace
