// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/rtt.hpp"
#include "support/samples.hpp"

#include <benchmark/benchmark.h>

#include <string>

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  if (!perf::smoke_only()) benchmark::AddCustomContext("rtt_ns", std::to_string(perf::measure_rtt()));
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
