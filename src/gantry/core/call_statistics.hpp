// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/export.hpp>

#include <cstdint>
#include <string>

namespace gantry {

/// What has come of the calls that code on a backend's devices made of the host, since the process began.
struct CallStatistics {
  std::uint64_t calls = 0;            ///< records served
  std::uint64_t bytes = 0;            ///< of their payloads
  std::uint64_t failed = 0;           ///< calls answered with an error
  std::uint64_t sleeps = 0;           ///< times that the thread went to sleep
  std::uint64_t wake_ups = 0;         ///< times that a call woke or started it
  std::uint64_t hand_overs = 0;       ///< times that another thread took over from one stuck in a handler
  std::uint64_t longest_look_us = 0;  ///< the longest 64 passes in which there was a call, its handler included

  /// Adds what each device counts: calls, bytes, failed.
  CallStatistics& operator+=(const CallStatistics& other) noexcept {
    calls += other.calls;
    bytes += other.bytes;
    failed += other.failed;
    return *this;
  }
};

/// As one line: "12 calls, 480 bytes, 0 failed; ...".
[[nodiscard]] GANTRY_API std::string to_text(const CallStatistics& statistics);

/// Of one backend.
struct BackendCalls {
  std::string backend;
  CallStatistics statistics;
};

}  // namespace gantry
