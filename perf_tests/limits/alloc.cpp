// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C library's own allocator, and a free list of one size behind a spin lock.

#include "support/samples.hpp"

#include <malloc.h>

#include <atomic>
#include <cstdlib>

namespace {

void malloc_free(benchmark::State& state) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    void* memory = std::malloc(bytes);
    benchmark::DoNotOptimize(memory);
    std::free(memory);
  }
}
BENCHMARK(malloc_free)->ArgName("bytes")->Arg(64)->Arg(4096)->Arg(1 << 20)->Arg(64 << 20)->UseRealTime();

void locked_bin(benchmark::State& state) {
  struct Block {
    Block* next;
  };
  Block only{nullptr};
  Block* free_list = &only;
  std::atomic<bool> taken{false};
  const auto locked = [&taken](auto action) {
    while (taken.exchange(true, std::memory_order_acquire)) {
    }
    action();
    taken.store(false, std::memory_order_release);
  };
  for (auto _ : state) {
    Block* block = nullptr;
    locked([&] {
      block = free_list;
      free_list = block->next;
    });
    benchmark::DoNotOptimize(block);
    locked([&] {
      block->next = free_list;
      free_list = block;
    });
  }
}
BENCHMARK(locked_bin)->UseRealTime();

void first_touch(benchmark::State& state) {
  mallopt(M_MMAP_THRESHOLD, 128 << 10);
  const auto bytes = static_cast<std::size_t>(state.range(0));
  const std::size_t blocks = (std::size_t{64} << 20) / bytes;
  char* memory[64] = {};
  perf::Samples samples;
  for (auto _ : state) {
    for (std::size_t block = 0; block < blocks; ++block) memory[block] = static_cast<char*>(std::malloc(bytes));
    const auto start = perf::Clock::now();
    for (std::size_t block = 0; block < blocks; ++block) {
      for (std::size_t page = 0; page < bytes; page += 4096) memory[block][page] = 1;
    }
    benchmark::ClobberMemory();
    samples.add(state, perf::seconds_since(start));
    for (std::size_t block = 0; block < blocks; ++block) std::free(memory[block]);
  }
  samples.report(state);
}
BENCHMARK(first_touch)->ArgName("bytes")->Arg(4 << 20)->Arg(64 << 20)->UseManualTime()->Iterations(perf::iterations(8));

}  // namespace
