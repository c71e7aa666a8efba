// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Device memory: allocated and freed, as raw memory and as Views, and touched for the first time.

#include "support/free_space.hpp"
#include "support/kokkos_bench.hpp"
#include "support/samples.hpp"

#include <malloc.h>

#ifdef PERF_SIDE_GANTRY
#include <gantry/core/gantry.hpp>
#include <gantry/core/memory_pool.hpp>
#endif

#include <array>
#include <cstdlib>

namespace {

using Memory = perf::Space::memory_space;

void malloc_free(benchmark::State& state) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    void* memory = Kokkos::kokkos_malloc<Memory>("m", bytes);
    benchmark::DoNotOptimize(memory);
    Kokkos::kokkos_free<Memory>(memory);
  }
}
BENCHMARK(malloc_free)->ArgName("bytes")->Arg(64)->Arg(4096)->Arg(1 << 20)->Arg(64 << 20)->UseRealTime();

void view(benchmark::State& state) {
  const auto n = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    const Kokkos::View<double*, Memory> view(Kokkos::view_alloc("v", Kokkos::WithoutInitializing), n);
    benchmark::DoNotOptimize(view.data());
  }
}
BENCHMARK(view)->ArgName("n")->Arg(8)->Arg(1000)->Arg(100'000)->UseRealTime();

// What Kokkos does for each View, whatever memory it is in: no side can go below.
void view_machinery(benchmark::State& state) {
  for (auto _ : state) {
    const Kokkos::View<double*, perf::FreeSpace> view(Kokkos::view_alloc("v", Kokkos::WithoutInitializing), 8);
    benchmark::DoNotOptimize(view.data());
  }
}
BENCHMARK(view_machinery)->UseRealTime();

void view_zeroed(benchmark::State& state) {
  const auto n = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    const Kokkos::View<double*, Memory> view("v", n);
    benchmark::DoNotOptimize(view.data());
  }
}
BENCHMARK(view_zeroed)->ArgName("n")->Arg(8)->Arg(1000)->Arg(100'000)->UseRealTime();

// Gives freed memory back to the operating system, so that the next allocation is new.
void give_back_memory() {
#ifdef PERF_SIDE_GANTRY
  const auto device = gantry::open_device(0);
  if (device.ok()) gantry::trim(device.value()).status().ignore();
#endif
  malloc_trim(0);
}

// A kernel writes to every 4096th byte of 64 MB that were never used, in blocks of the given size.
void first_touch(benchmark::State& state) {
  // Else glibc raises the size from which it asks the system for each block, and hands out used memory.
  mallopt(M_MMAP_THRESHOLD, 128 << 10);
  const auto bytes = static_cast<std::size_t>(state.range(0));
  const std::size_t blocks = (std::size_t{64} << 20) / bytes;
  const perf::Space space;
  std::array<char*, 64> memory{};
  perf::Samples samples;
  for (auto _ : state) {
    for (std::size_t block = 0; block < blocks; ++block) {
      memory[block] = static_cast<char*>(Kokkos::kokkos_malloc<Memory>("m", bytes));
    }
    const auto start = perf::Clock::now();
    for (std::size_t block = 0; block < blocks; ++block) {
      char* data = memory[block];
      Kokkos::parallel_for(
          perf::Range(space, 0, static_cast<int>(bytes / 4096)),
          KOKKOS_LAMBDA(int page) { data[std::size_t(page) * 4096] = 1; });
    }
    space.fence();
    samples.add(state, perf::seconds_since(start));
    for (std::size_t block = 0; block < blocks; ++block) Kokkos::kokkos_free<Memory>(memory[block]);
    give_back_memory();
  }
  samples.report(state);
}
BENCHMARK(first_touch)->ArgName("bytes")->Arg(4 << 20)->Arg(64 << 20)->UseManualTime()->Iterations(perf::iterations(8));

#ifdef PERF_SIDE_GANTRY
class HeapSource final : public gantry::MemorySource {
 public:
  gantry::Result<void*> allocate(std::size_t bytes) override { return std::aligned_alloc(128, bytes); }
  gantry::Status free(void* memory, std::size_t) override {
    std::free(memory);
    return {};
  }
  gantry::MemoryInfo memory_info() const noexcept override { return {std::size_t{1} << 40, std::size_t{1} << 40}; }
};

// The pool alone, without the runtime's guard, the record of live objects and Kokkos: one allocate and one free.
void pool(benchmark::State& state) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  HeapSource source;
  gantry::MemoryPool pool(source, {});
  for (auto _ : state) {
    auto memory = pool.allocate(bytes);
    benchmark::DoNotOptimize(*memory);
    if (!pool.free(*memory).ok()) state.SkipWithError("free failed");
  }
}
BENCHMARK(pool)->ArgName("bytes")->Arg(64)->Arg(4096)->Arg(1 << 20)->Arg(64 << 20)->UseRealTime();
#endif

}  // namespace
