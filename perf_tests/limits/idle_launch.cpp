// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A worker that always sleeps, woken by each launch.

#include "limits/wake_up.hpp"

namespace {

void after_idle(benchmark::State& state) {
  perf::wake_up(state);
}
BENCHMARK(after_idle)->UseManualTime()->Iterations(perf::iterations(300));

}  // namespace
