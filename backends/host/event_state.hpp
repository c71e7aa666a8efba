// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

namespace gantry::host {

class Stream;

/// What an event's handle and the commands that name it share. Each record takes a ticket; the event is ready once the
/// ticket of the last record was reached, whichever streams the records were on.
/// Thread safety: all functions, any thread.
class EventState {
 public:
  /// The ticket of a new record.
  [[nodiscard]] std::uint64_t take_ticket() noexcept { return m_taken.fetch_add(1, std::memory_order_acq_rel) + 1; }
  /// The ticket of the last record; 0: there was none.
  [[nodiscard]] std::uint64_t last_ticket() const noexcept { return m_taken.load(std::memory_order_acquire); }
  [[nodiscard]] bool reached(std::uint64_t ticket) const noexcept {
    return m_reached.load(std::memory_order_acquire) >= ticket;
  }

  /// The record of `ticket` is due: wakes who waits and makes parked streams ready.
  void reach(std::uint64_t ticket);
  /// Makes the stream ready once `ticket` is reached; false, with nothing done, when it was.
  [[nodiscard]] bool park(std::uint64_t ticket, Stream& stream);
  /// Waits until `ticket` is reached.
  void wait(std::uint64_t ticket) noexcept;

 private:
  struct Parked {
    std::uint64_t ticket;
    Stream* stream;
  };
  std::atomic<std::uint64_t> m_taken{0};
  std::atomic<std::uint64_t> m_reached{0};
  std::mutex m_mutex;  // guards changes of m_reached, and all below
  bool m_sleepers = false;
  std::vector<Parked> m_parked;
};

}  // namespace gantry::host
