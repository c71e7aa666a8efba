// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The least that calls between two pinned, spinning threads can be: a mailbox of one cache line, a ring of them, a
// thread that sleeps; and the layout that LLVM's RPC has.

#include "limits/wake_up.hpp"
#include "support/rtt.hpp"
#include "support/samples.hpp"

#include <benchmark/benchmark.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>

namespace {

/// The thread on the other CPU: it calls poll() again and again.
class Server {
 public:
  template <class Poll>
  explicit Server(Poll poll)
      : m_thread([this, poll]() mutable {
          perf::pin_to_cpu(1);
          while (!m_stop.load(std::memory_order_relaxed))
            if (!poll()) perf::pause();
        }) {
    perf::pin_to_cpu(0);
  }
  ~Server() {
    m_stop.store(true);
    m_thread.join();
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

 private:
  std::atomic<bool> m_stop{false};
  std::thread m_thread;
};

/// One line that goes there and back: turn, payload.
void call(benchmark::State& state) {
  struct alignas(64) Mailbox {
    std::atomic<std::uint64_t> turn{0};
    std::uint64_t payload[7] = {};
  } mailbox;
  const Server server([&mailbox, turn = std::uint64_t{0}]() mutable {
    if (mailbox.turn.load(std::memory_order_acquire) != turn + 1) return false;
    mailbox.payload[0] += 1;
    mailbox.turn.store(turn += 2, std::memory_order_release);
    return true;
  });
  std::uint64_t turn = 0;
  for (auto _ : state) {
    mailbox.payload[0] = turn;
    mailbox.turn.store(turn + 1, std::memory_order_release);
    while (mailbox.turn.load(std::memory_order_acquire) != turn + 2) perf::pause();
    turn += 2;
  }
}
BENCHMARK(call)->ArgName("ports")->Arg(1)->UseRealTime();

/// The layout and the server loop of LLVM's GPU libc (libc/shared/rpc.h): arrays of inboxes, outboxes, locks, headers
/// and packets of 64 bytes a lane; the server looks at all ports from the first one, and begins again after each call.
void call_llvm_layout(benchmark::State& state) {
  constexpr std::size_t ports = 64;
  struct Header {
    std::uint64_t mask = 0;
    std::uint32_t opcode = 0;
  };
  struct alignas(64) Packet {
    std::uint64_t payload[8] = {};
  };
  struct Process {
    std::array<std::atomic<std::uint32_t>, ports> to_server{};
    std::array<std::atomic<std::uint32_t>, ports> to_client{};
    std::array<std::atomic<std::uint32_t>, ports> client_lock{};
    std::array<std::atomic<std::uint32_t>, ports> server_lock{};
    std::array<Header, ports> headers{};
    std::array<Packet, ports> packets{};
  } process;
  const Server server([&process] {
    for (std::size_t port = 0; port < ports; ++port) {
      const std::uint32_t in = process.to_server[port].load(std::memory_order_relaxed);
      const std::uint32_t out = process.to_client[port].load(std::memory_order_relaxed);
      if (in == out || process.server_lock[port].exchange(1, std::memory_order_acquire) != 0) continue;
      std::atomic_thread_fence(std::memory_order_acquire);
      if (process.headers[port].opcode == 1) process.packets[port].payload[0] += 1;
      process.to_client[port].store(in, std::memory_order_release);
      process.server_lock[port].store(0, std::memory_order_release);
      return true;
    }
    return false;
  });
  for (auto _ : state) {
    constexpr std::size_t port = 0;  // which suits the server best
    while (process.client_lock[port].exchange(1, std::memory_order_acquire) != 0) perf::pause();
    const std::uint32_t turn = process.to_server[port].load(std::memory_order_relaxed) ^ 1;
    process.headers[port] = {1, 1};
    process.packets[port].payload[0] = turn;
    process.to_server[port].store(turn, std::memory_order_release);
    while (process.to_client[port].load(std::memory_order_acquire) != turn) perf::pause();
    benchmark::DoNotOptimize(process.packets[port].payload[0]);
    process.client_lock[port].store(0, std::memory_order_release);
  }
}
BENCHMARK(call_llvm_layout)->UseRealTime();

/// A ring of lines with one producer and one consumer, each of which reads the other's place when it has to.
class Ring {
 public:
  void post() {
    while (m_place - m_known == lines) {
      m_known = m_read.load(std::memory_order_acquire);
      if (m_place - m_known == lines) perf::pause();
    }
    Line& line = m_lines[m_place % lines];
    for (std::uint64_t& word : line.words) word = m_place;
    m_written.store(++m_place, std::memory_order_release);
  }
  void flush() const {
    while (m_read.load(std::memory_order_acquire) != m_place) perf::pause();
  }
  bool consume() {
    std::uint64_t place = m_read.load(std::memory_order_relaxed);
    const std::uint64_t end = m_written.load(std::memory_order_acquire);
    if (end == place) return false;
    for (; place != end; ++place) benchmark::DoNotOptimize(m_lines[place % lines].words[0]);
    m_read.store(place, std::memory_order_release);
    return true;
  }

 private:
  static constexpr std::uint64_t lines = 64;
  struct alignas(64) Line {
    std::uint64_t words[8];
  };
  std::array<Line, lines> m_lines{};
  alignas(64) std::atomic<std::uint64_t> m_written{0};
  alignas(64) std::atomic<std::uint64_t> m_read{0};
  alignas(64) std::uint64_t m_place = 0;  // the producer's
  std::uint64_t m_known = 0;
};

void one_way(benchmark::State& state) {
  Ring ring;
  const Server server([&ring] { return ring.consume(); });
  constexpr int burst = 32;
  for (auto _ : state) {
    const auto start = perf::Clock::now();
    for (int i = 0; i < burst; ++i) ring.post();
    state.SetIterationTime(perf::seconds_since(start) / burst);
    ring.flush();
  }
}
BENCHMARK(one_way)->Iterations(perf::iterations(20'000))->UseManualTime();

void pipelined(benchmark::State& state) {
  Ring ring;
  const Server server([&ring] { return ring.consume(); });
  for (auto _ : state) ring.post();
  ring.flush();
}
BENCHMARK(pipelined)->UseRealTime();

/// A server that sleeps until each call.
void call_after_idle(benchmark::State& state) {
  perf::wake_up(state);
}
BENCHMARK(call_after_idle)->Iterations(perf::iterations(300))->UseManualTime();

}  // namespace
