// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace perf {

/// Nanoseconds one cache line needs to go from a core to another and back: the median of several runs between the
/// first two CPUs of the process's mask. 0 where there is only one. Call it while no other thread of the process runs.
double measure_rtt();

/// For loops that wait for another core: asking for the line without pause takes it from who is about to write it.
inline void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");
#endif
}

/// Pins the calling thread to the n-th CPU of the process's mask; false when there are fewer.
bool pin_to_cpu(int n);

/// CPUs in the process's mask.
int cpu_count();

}  // namespace perf
