// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/export.hpp>
#include <gantry/base/status.hpp>

namespace gantry {

/// Status that a process ends with instead of 0 when GANTRY_LEAKS=fail and something leaked.
inline constexpr int leak_exit_status = 86;

/// Status that a process ends with instead of 0 when there was an error of which no call could tell the program, such
/// as a kernel that failed or did not end, found by the close at the end.
inline constexpr int close_exit_status = 87;

/// From here on the end of the process is taken care of. Idempotent.
///
/// exit() and return from main: after every atexit function and every destructor of the program's statics, so that
/// these still find their devices open, Runtime::get() is closed by force: what is held then is reported. Inside a
/// kernel, and in a forked child, nothing is touched. quick_exit: nothing is closed. fail_exit and GANTRY_LEAKS=fail
/// turn status 0 into close_exit_status and leak_exit_status, after stdio was flushed; with quick_exit, which does not
/// tell its status, any status.
void arm_exit();

/// For callers that can return a status to nobody, such as the last close of the devices: logs it unless it is ok, and
/// the process then does not end with status 0. Any thread.
GANTRY_API void fail_exit(const Status& status) noexcept;

}  // namespace gantry
