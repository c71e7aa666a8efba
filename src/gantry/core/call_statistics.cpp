// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/core/call_statistics.hpp>

#include <fmt/format.h>

namespace gantry {

std::string to_text(const CallStatistics& statistics) {
  return fmt::format(
      "{} calls, {} bytes, {} failed; the server slept {} times, was woken {} times, handed over {} times; longest "
      "pass {} us",
      statistics.calls, statistics.bytes, statistics.failed, statistics.sleeps, statistics.wake_ups,
      statistics.hand_overs, statistics.longest_look_us);
}

}  // namespace gantry
