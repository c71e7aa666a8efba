// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/export.hpp>

#include <chrono>
#include <cstddef>

/// Where the inline ways of device/ end, for code that runs on threads of this process.
namespace gantry::rpc::impl {

/// printf outside of device code: at once, to the standard output.
GANTRY_API void print_here(const char* message, std::size_t bytes) noexcept;

/// Ends a kernel or host function: what the device printed, then the text, then throws. Elsewhere: ends the process.
[[noreturn]] GANTRY_API void abort_here(const char* text);

/// In a kernel or host function: waits until what its device has called so far has been done.
GANTRY_API void flush_here(std::chrono::nanoseconds timeout) noexcept;

/// Logs that device code was called elsewhere.
GANTRY_API void not_in_a_kernel(const char* what) noexcept;

}  // namespace gantry::rpc::impl
