// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/kokkos_bench.hpp"
#include "support/rtt.hpp"
#include "support/samples.hpp"

#include <string>

#ifndef PERF_FLAGS
#define PERF_FLAGS ""
#endif

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  // Before the runtimes come up: their threads may spin on the cores that the line travels between.
  if (!perf::smoke_only()) benchmark::AddCustomContext("rtt_ns", std::to_string(perf::measure_rtt()));
  Kokkos::initialize(argc, argv);
  benchmark::AddCustomContext("space", perf::Space::name());
  benchmark::AddCustomContext("threads", std::to_string(perf::Space().concurrency()));
  benchmark::AddCustomContext("kokkos", std::to_string(KOKKOS_VERSION_MAJOR) + "." +
                                            std::to_string(KOKKOS_VERSION_MINOR) + "." +
                                            std::to_string(KOKKOS_VERSION_PATCH));
  benchmark::AddCustomContext("compiler", __VERSION__);
  benchmark::AddCustomContext("flags", PERF_FLAGS);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  Kokkos::finalize();
  return 0;
}
