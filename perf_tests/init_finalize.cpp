// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What it costs to bring the runtime up and down, each time in a fresh process, and one device within a process.
// This program is its own child: `init_finalize --child init|use|cycles`.

#include "support/kokkos_bench.hpp"
#include "support/samples.hpp"

#ifdef PERF_SIDE_GANTRY
#include <gantry/core/gantry.hpp>
#endif

#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace {

/// What a child tells its parent.
struct Outcome {
  double seconds = 0;
  double rss_kb = 0;   ///< resident memory that was added
  double threads = 0;  ///< threads that were added
  double files = 0;    ///< open files that were added
};

Outcome footprint() {
  Outcome now;
  std::ifstream statm("/proc/self/statm");
  double pages = 0;
  statm >> pages >> pages;
  now.rss_kb = pages * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1024;
  const auto entries = [](const char* folder) {
    return static_cast<double>(std::distance(std::filesystem::directory_iterator(folder), {}));
  };
  now.threads = entries("/proc/self/task");
  now.files = entries("/proc/self/fd");
  return now;
}

Outcome operator-(const Outcome& a, const Outcome& b) {
  return {a.seconds - b.seconds, a.rss_kb - b.rss_kb, a.threads - b.threads, a.files - b.files};
}

struct Nothing {
  KOKKOS_FUNCTION void operator()(int) const {}
};

void use_device() {
  const perf::Space space;
  Kokkos::parallel_for(perf::Range(space, 0, space.concurrency()), Nothing{});
  space.fence();
}

// The memory is that of the initialized runtime, taken where the clock stands still.
Outcome init_and_finalize(bool use) {
  const Outcome before = footprint();
  auto start = perf::Clock::now();
  Kokkos::initialize();
  if (use) use_device();
  double seconds = perf::seconds_since(start);
  Outcome added = footprint() - before;
  start = perf::Clock::now();
  Kokkos::finalize();
  added.seconds = seconds + perf::seconds_since(start);
  return added;
}

#ifdef PERF_SIDE_GANTRY
const int cycles = perf::smoke_only() ? 1 : 1000;

Outcome close_and_open() {
  Kokkos::initialize();
  auto cycle = [] {
    use_device();
    if (!gantry::close_device(0).ok() || !gantry::open_device(0).ok()) std::abort();
  };
  for (int warm_up = 0; warm_up < cycles; ++warm_up) cycle();
  const Outcome before = footprint();
  double seconds = 0;
  for (int i = 0; i < cycles; ++i) {
    use_device();
    const auto start = perf::Clock::now();
    if (!gantry::close_device(0).ok() || !gantry::open_device(0).ok()) std::abort();
    seconds += perf::seconds_since(start);
  }
  Outcome added = footprint() - before;
  added.seconds = seconds / cycles;
  Kokkos::finalize();
  return added;
}
#endif

int run_child(const char* what) {
  Outcome outcome;
  if (std::strcmp(what, "init") == 0) outcome = init_and_finalize(false);
  if (std::strcmp(what, "use") == 0) outcome = init_and_finalize(true);
#ifdef PERF_SIDE_GANTRY
  if (std::strcmp(what, "cycles") == 0) outcome = close_and_open();
#endif
  std::printf("%.17g %.17g %.17g %.17g\n", outcome.seconds, outcome.rss_kb, outcome.threads, outcome.files);
  return 0;
}

void in_child(benchmark::State& state, const char* what) {
  const std::string command = std::filesystem::read_symlink("/proc/self/exe").string() + " --child " + what;
  Outcome outcome;
  perf::Samples samples;
  for (auto _ : state) {
    std::FILE* child = popen(command.c_str(), "r");
    const int fields = child == nullptr ? 0
                                        : std::fscanf(child, "%lf %lf %lf %lf", &outcome.seconds, &outcome.rss_kb,
                                                      &outcome.threads, &outcome.files);
    if (child != nullptr && pclose(child) == 0 && fields == 4) {
      samples.add(state, outcome.seconds);
    } else {
      state.SkipWithError("the child failed");
      break;
    }
  }
  samples.report(state);
  state.counters["rss_kb"] = outcome.rss_kb;
  state.counters["threads"] = outcome.threads;
  state.counters["files"] = outcome.files;
}
BENCHMARK_CAPTURE(in_child, init, "init")->Name("init")->UseManualTime()->Iterations(perf::iterations(10));
BENCHMARK_CAPTURE(in_child, use, "use")->Name("use")->UseManualTime()->Iterations(perf::iterations(10));
#ifdef PERF_SIDE_GANTRY
BENCHMARK_CAPTURE(in_child, cycles, "cycles")->Name("cycles")->UseManualTime()->Iterations(perf::iterations(1));
#endif

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "--child") == 0) return run_child(argv[2]);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
