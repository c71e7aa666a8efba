// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/core/exit.hpp>

#include <gantry/base/log.hpp>
#include <gantry/core/execution_context.hpp>
#include <gantry/core/fork_guard.hpp>
#include <gantry/core/runtime.hpp>

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>

namespace gantry {
namespace {

constinit std::atomic<bool> g_armed{false};
constinit std::atomic<int> g_status{0};
constinit std::atomic<bool> g_close_failed{false};

void replace_status_zero() {
  const bool close_failed = g_close_failed.load();
  if (g_status.load() != 0 || !(close_failed || Runtime::get().leaks_failed())) return;
  std::fflush(nullptr);
  _exit(close_failed ? close_exit_status : leak_exit_status);
}

/// Runs when the library (or the program it is linked into) is finalised: the last moment with all libraries in place.
__attribute__((destructor)) void close_at_exit() {
  if (!g_armed.load() || in_forked_child()) return;
  if (execution_context() == nullptr) fail_exit(Runtime::get().close_all());
  replace_status_zero();
}

}  // namespace

void arm_exit() {
  if (g_armed.load(std::memory_order_relaxed)) return;
  static std::once_flag once;
  std::call_once(once, [] {
    on_exit([](int status, void*) { g_status.store(status); }, nullptr);
    at_quick_exit([] {
      if (!in_forked_child()) replace_status_zero();
    });
    g_armed.store(true);
  });
}

void fail_exit(const Status& status) noexcept {
  if (status.ok()) return;
  log(LogLevel::error, status.message());
  g_close_failed.store(true);
}

}  // namespace gantry
