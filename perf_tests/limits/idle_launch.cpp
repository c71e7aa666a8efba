// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A worker that always sleeps in a futex, woken by each launch.

#include "support/rtt.hpp"
#include "support/samples.hpp"

#include <atomic>
#include <cstdint>
#include <thread>

namespace {

void after_idle(benchmark::State& state) {
  std::atomic<std::uint32_t> post{0};
  std::atomic<std::uint32_t> done{0};
  std::thread worker([&] {
    perf::pin_to_cpu(1);
    for (std::uint32_t seen = 0;;) {
      post.wait(seen);
      seen = post.load();
      if (seen == ~0U) return;
      done.store(seen, std::memory_order_release);
    }
  });
  perf::pin_to_cpu(0);
  perf::Samples samples;
  std::uint32_t number = 0;
  for (auto _ : state) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const auto start = perf::Clock::now();
    post.store(++number, std::memory_order_release);
    post.notify_one();
    while (done.load(std::memory_order_acquire) != number) perf::pause();
    samples.add(state, perf::seconds_since(start));
  }
  samples.report(state);
  post.store(~0U);
  post.notify_one();
  worker.join();
}
BENCHMARK(after_idle)->UseManualTime()->Iterations(perf::iterations(300));

}  // namespace
