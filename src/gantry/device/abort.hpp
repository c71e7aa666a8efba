// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/rpc/current_port.hpp>

namespace gantry {

/// Ends the kernel: the text goes to standard error, after everything that the device printed before, with the names of
/// the device and the kernel and the number of the thread; the device is poisoned, and the next fence returns the
/// error. Other devices go on. Outside of a kernel it ends the process.
[[noreturn]] inline void abort(const char* text) {
  rpc::impl::abort_here(text);
}

}  // namespace gantry

#define GANTRY_IMPL_ASSERT_TEXT_2(x) #x
#define GANTRY_IMPL_ASSERT_TEXT(x) GANTRY_IMPL_ASSERT_TEXT_2(x)
/// Aborts the kernel with the condition's text and place when it is false; also in release builds.
#define GANTRY_ASSERT(condition) \
  ((condition)                   \
       ? static_cast<void>(0)    \
       : ::gantry::abort("assertion '" #condition "' failed at " __FILE__ ":" GANTRY_IMPL_ASSERT_TEXT(__LINE__)))
