// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <chrono>
#include <climits>
#include <cstdint>

namespace gantry {

/// The half of a counter that changes with every step, to sleep on.
inline const void* low_half(const std::atomic<std::uint64_t>& counter) noexcept {
  return reinterpret_cast<const std::uint32_t*>(&counter) + (std::endian::native == std::endian::big ? 1 : 0);
}

/// Sleeps while the 32-bit `word` holds `value`, at most `timeout` (negative: for ever). Wakes for no reason too.
inline void futex_wait(const void* word, std::uint32_t value,
                       std::chrono::nanoseconds timeout = std::chrono::nanoseconds(-1)) noexcept {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(timeout);
  const timespec limit{seconds.count(), (timeout - seconds).count()};
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, timeout.count() < 0 ? nullptr : &limit, nullptr, 0);
}

inline void futex_wake(const void* word, int threads = INT_MAX) noexcept {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, threads, nullptr, nullptr, 0);
}

}  // namespace gantry
