// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/base/log.hpp>
#include <gantry/base/unique_handle.hpp>

#include <fmt/format.h>

#include <atomic>

namespace gantry {
namespace {
constinit std::atomic<std::uint64_t> g_close_errors{0};
}

void report_close_error(std::string_view what, const Status& error) noexcept {
  g_close_errors.fetch_add(1, std::memory_order_relaxed);
  try {
    log(LogLevel::error, fmt::format("closing {}: {}", what, error.message()));
  } catch (...) {
    log(LogLevel::error, what);
  }
}

std::uint64_t close_error_count() noexcept {
  return g_close_errors.load(std::memory_order_relaxed);
}

}  // namespace gantry
