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

void fail_if_leaked() {
  if (!Runtime::get().leaks_failed() || g_status.load() != 0) return;
  std::fflush(nullptr);
  _exit(leak_exit_status);
}

/// Runs when the library (or the program it is linked into) is finalised: the last moment with all libraries in place.
__attribute__((destructor)) void close_at_exit() {
  if (!g_armed.load() || in_forked_child()) return;
  if (execution_context() == nullptr) {
    if (const Status status = Runtime::get().close_all(); !status.ok()) log(LogLevel::error, status.message());
  }
  fail_if_leaked();
}

}  // namespace

void arm_exit() {
  if (g_armed.load(std::memory_order_relaxed)) return;
  static std::once_flag once;
  std::call_once(once, [] {
    on_exit([](int status, void*) { g_status.store(status); }, nullptr);
    at_quick_exit([] {
      if (!in_forked_child()) fail_if_leaked();
    });
    g_armed.store(true);
  });
}

}  // namespace gantry
