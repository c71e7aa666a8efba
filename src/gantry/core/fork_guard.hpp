// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/status.hpp>

#include <atomic>

namespace gantry {

namespace impl {
/// Points to a byte that is 1, and 0 in a process that was forked after arm_fork_guard().
extern constinit std::atomic<const std::atomic<unsigned char>*> g_fork_byte;
}  // namespace impl

/// From here on children are recognised. Idempotent. A child that was forked earlier is a process like any other.
void arm_fork_guard() noexcept;

/// True in a child that was forked while Gantry was in use: threads, queues and memory of the parent are not there, and
/// what is there must be left alone. Costs two loads.
[[nodiscard]] inline bool in_forked_child() noexcept {
  return impl::g_fork_byte.load(std::memory_order_relaxed)->load(std::memory_order_relaxed) == 0;
}

/// What every call returns in such a child.
[[nodiscard]] Status forked_child_error();

}  // namespace gantry
