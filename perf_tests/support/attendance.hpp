// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstdint>

namespace perf {

/// Proves that all threads took part in a series of launches, at the price of one increment of a line that only its
/// own thread writes: the kernel notes the number of its launch, each thread counts the launches it saw. Launches of T
/// items can each be seen by at most T threads, so the sum of the counts says how many were seen by all T.
class Attendance {
 public:
  /// Called by the kernel. The thread must live until the last share().
  static void note(std::uint64_t launch) {
    if (t_seat.last == launch) return;
    if (t_seat.last == never) t_seat.sit_down();
    t_seat.last = launch;
    t_seat.launches.store(t_seat.launches.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  /// Starts a count. No kernel may be running.
  static void reset() {
    for (Seat* seat = s_seats.load(); seat != nullptr; seat = seat->next) seat->launches = 0;
  }

  /// The share of `launches` launches of `threads` items that were run by `threads` threads.
  static double share(std::uint64_t launches, int threads) {
    std::uint64_t seen = 0;
    for (Seat* seat = s_seats.load(); seat != nullptr; seat = seat->next) seen += seat->launches.load();
    const double by_all = static_cast<double>(seen) - static_cast<double>(threads - 1) * static_cast<double>(launches);
    return by_all > 0 ? by_all / static_cast<double>(launches) : 0.0;
  }

 private:
  static constexpr std::uint64_t never = ~std::uint64_t{0};

  struct alignas(128) Seat {
    std::uint64_t last;
    std::atomic<std::uint64_t> launches;
    Seat* next;

    void sit_down() {
      next = s_seats.load();
      while (!s_seats.compare_exchange_weak(next, this)) {
      }
    }
  };

  static inline std::atomic<Seat*> s_seats{nullptr};
  static inline thread_local constinit Seat t_seat{never, 0, nullptr};
};

}  // namespace perf
