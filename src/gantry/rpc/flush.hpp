// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/export.hpp>
#include <gantry/rpc/protocol.hpp>

#include <chrono>

namespace gantry::rpc {

/// Whether everything that was posted has been done.
[[nodiscard]] bool all_served(const Channel& channel) noexcept;

/// Waits until everything that was posted before has been done, and its text is visible; at most `timeout`, and not
/// when the channel is aborted. Not inside one of its handlers, which that would wait for.
void flush_channel(Channel& channel, std::chrono::nanoseconds timeout) noexcept;

}  // namespace gantry::rpc
