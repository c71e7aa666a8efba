// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "limits/spin_pool.hpp"
#include "support/shared_work.hpp"

namespace {

void launch_fence(benchmark::State& state) {
  for (auto _ : state) perf::SpinPool::get().run([](int) {});
}
BENCHMARK(launch_fence)->UseRealTime();

void launch_fence_shared(benchmark::State& state) {
  perf::measure_shared_launches(state, perf::SpinPool::threads, [](const perf::SharedWork& work) {
    perf::SpinPool::get().run([work](int) { work.run(); });
  });
}
BENCHMARK(launch_fence_shared)->UseRealTime();

}  // namespace
