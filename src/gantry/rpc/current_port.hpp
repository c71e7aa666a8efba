// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/export.hpp>
#include <gantry/rpc/protocol.hpp>

#include <cstddef>
#include <cstdint>

namespace gantry::rpc {

/// The way to the host of code that a host device runs.
struct CurrentPort {
  Channel* channel = nullptr;  ///< null: the thread runs no such code
  std::uint32_t number = 0;
  explicit operator bool() const noexcept { return channel != nullptr; }
};

/// The calling thread's, while it runs a kernel or a host function.
[[nodiscard]] GANTRY_API CurrentPort current_port() noexcept;

/// What code of a host device does where the inline way of device/ ends.
namespace impl {
/// printf outside of device code: at once, to the standard output.
GANTRY_API void print_here(const char* message, std::size_t bytes) noexcept;
/// Ends a kernel: what it printed, then the text; then throws. Outside of a kernel: ends the process.
[[noreturn]] GANTRY_API void abort_here(const char* text);
/// Logs that device code was called outside of a kernel.
GANTRY_API void not_in_a_kernel(const char* what) noexcept;
}  // namespace impl

}  // namespace gantry::rpc
