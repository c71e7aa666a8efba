// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace gantry {

/// Status that a process ends with instead of 0 when GANTRY_LEAKS=fail and something leaked.
inline constexpr int leak_exit_status = 86;

/// From here on the end of the process is taken care of. Idempotent.
///
/// exit() and return from main: after every atexit function and every destructor of the program's statics, so that
/// these still find their devices open, Runtime::get() is closed by force: what is held then is reported. Inside a
/// kernel, and in a forked child, nothing is touched. quick_exit: nothing is closed. GANTRY_LEAKS=fail turns status 0
/// into leak_exit_status, after stdio was flushed; with quick_exit, which does not tell its status, any status.
void arm_exit();

}  // namespace gantry
