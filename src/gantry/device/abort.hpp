// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/rpc/out_of_line.hpp>

namespace gantry {

/// Ends the kernel: the text, at most 1000 characters, goes to standard error, after everything that the device printed
/// before, with the names of the device and the kernel and the number of the thread; the device is poisoned, and the
/// next fence returns the error. Other devices go on. A host function is ended alike; elsewhere the process ends. In
/// the copy constructor of a functor that is being launched it is the launch that fails, and nothing is poisoned.
///
/// On a host device it is a C++ exception of a type that is nobody's business: code that catches everything swallows
/// it, and inside a noexcept function it ends the process.
[[noreturn]] inline void abort(const char* text) {
  rpc::impl::abort_here(text);
}

}  // namespace gantry

#define GANTRY_IMPL_ASSERT_TEXT_2(x) #x
#define GANTRY_IMPL_ASSERT_TEXT(x) GANTRY_IMPL_ASSERT_TEXT_2(x)
/// Aborts the kernel with the condition's text and place when it is false; also in release builds.
#define GANTRY_ASSERT(...)    \
  ((__VA_ARGS__)              \
       ? static_cast<void>(0) \
       : ::gantry::abort("assertion '" #__VA_ARGS__ "' failed at " __FILE__ ":" GANTRY_IMPL_ASSERT_TEXT(__LINE__)))
