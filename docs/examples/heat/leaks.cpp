// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "leaks.hpp"

#include <Kokkos_Core.hpp>

namespace heat {

#if defined(GANTRY_DEFAULT_EXECUTION_SPACE)

namespace {
std::size_t g_leaked = 0;
}

void watch_leaks() {
  gantry::set_leak_callback(
      [](const gantry::LeakReport& report, void* count) { *static_cast<std::size_t*>(count) += report.objects.size(); },
      &g_leaked);
}

std::optional<std::size_t> leaked_objects() {
  return g_leaked;
}

#else

void watch_leaks() {}
std::optional<std::size_t> leaked_objects() {
  return std::nullopt;
}

#endif

}  // namespace heat
