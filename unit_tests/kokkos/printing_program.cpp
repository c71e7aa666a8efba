// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs whose kernels print and abort, one for each name; printing_test.cpp says what must come of it.
#include <gantry/device/abort.hpp>
#include <gantry/kokkos/Gantry_Kokkos.hpp>

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <map>
#include <string>

namespace {

using gantry::Offload;
using Kokkos::Experimental::WorkItemProperty;
using Range = Kokkos::RangePolicy<Offload>;

constexpr int failed = 9;

/// Whether a kernel's line comes out of a pipe while the kernel waits for somebody who has read it.
template <class Policy>
int read_before_the_end(const Policy& policy) {
  int ends[2];
  if (pipe(ends) != 0 || dup2(ends[1], STDOUT_FILENO) < 0) return failed;
  const Kokkos::View<int, gantry::OffloadPinnedSpace> go_on("go_on");
  Kokkos::parallel_for(
      policy, KOKKOS_LAMBDA(int) {
        Kokkos::printf("progress\n");
        while (Kokkos::atomic_load(&go_on()) == 0) {
        }
      });
  std::string line;
  for (char character = 0; character != '\n' && read(ends[0], &character, 1) == 1;) line += character;
  Kokkos::atomic_store(&go_on(), 1);
  Kokkos::fence();
  return line == "progress\n" ? 0 : failed;
}

int heavy_kernel_prints() {
  return read_before_the_end(Kokkos::Experimental::require(Range(0, 1), WorkItemProperty::HintHeavyWeight));
}

int kernel_prints() {
  return read_before_the_end(Range(0, 1));
}

int many_lines_then_abort() {
  Kokkos::parallel_for(
      Range(0, 1'000'000), KOKKOS_LAMBDA(int i) { Kokkos::printf("line %d\n", i); });
  Kokkos::parallel_for(
      Range(0, 1), KOKKOS_LAMBDA(int) { Kokkos::abort("x marks the end"); });
  Kokkos::fence();
  return failed;
}

int host_aborts_behind_a_kernel() {
  Kokkos::parallel_for(
      Range(0, 1000), KOKKOS_LAMBDA(int i) { Kokkos::printf("line %d\n", i); });
  Kokkos::fence();
  Kokkos::abort("x marks the end");
  return failed;
}

int kernel_aborts() {
  Kokkos::parallel_for(
      "named", Range(0, 100), KOKKOS_LAMBDA(int i) {
        if (i == 77) GANTRY_ASSERT(i != 77);
      });
  try {
    Kokkos::fence();
  } catch (const gantry::Error& error) {
    std::printf("the host got: %s\n", error.what());
    return gantry::close_device(Offload().device().id, gantry::CloseMode::force).ok() ? 0 : failed;
  }
  return failed;
}

int kernel_faults() {
  auto* const nowhere = reinterpret_cast<int*>(0x12345000);  // not null, which sanitizers catch before the CPU does
  Kokkos::parallel_for(
      Range(0, 1), KOKKOS_LAMBDA(int) {
        Kokkos::printf("before the fault\n");
        *static_cast<volatile int*>(nowhere) = 1;
      });
  Kokkos::fence();
  return failed;
}

int kernel_sends_the_signal_of_a_fault() {
  Kokkos::parallel_for(
      Range(0, 1), KOKKOS_LAMBDA(int) { std::raise(SIGSEGV); });
  Kokkos::fence();
  return 0;
}

int prints_at_the_end() {
  Kokkos::parallel_for(
      Range(0, 1), KOKKOS_LAMBDA(int) { Kokkos::printf("last words"); });
  return 0;  // no fence: finalize comes next
}

const std::map<std::string, int (*)()> programs = {
    {"heavy_kernel_prints", heavy_kernel_prints},
    {"host_aborts_behind_a_kernel", host_aborts_behind_a_kernel},
    {"kernel_aborts", kernel_aborts},
    {"kernel_faults", kernel_faults},
    {"kernel_prints", kernel_prints},
    {"kernel_sends_the_signal_of_a_fault", kernel_sends_the_signal_of_a_fault},
    {"many_lines_then_abort", many_lines_then_abort},
    {"prints_at_the_end", prints_at_the_end},
};

}  // namespace

int main(int argc, char** argv) {
  const auto program = argc > 1 ? programs.find(argv[1]) : programs.end();
  if (program == programs.end()) {
    for (const auto& [name, function] : programs) std::puts(name.c_str());
    return 2;
  }
  Kokkos::initialize(argc, argv);
  const int status = program->second();
  Kokkos::finalize();
  return status;
}
