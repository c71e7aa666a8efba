// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

namespace gantry::host {

class Stream;

/// One record of an event: what the command that will reach it, the event and who waits share.
/// Thread safety: all functions, any thread.
class EventState {
 public:
  [[nodiscard]] bool reached() const noexcept { return m_reached.load(std::memory_order_acquire) != 0; }

  /// The stream has come to the record: wakes who waits and makes parked streams ready.
  void reach();
  /// Makes the stream ready once the record is reached; false, with nothing done, when it was.
  [[nodiscard]] bool park(Stream& stream);
  /// Waits until the record is reached.
  void wait() noexcept;

 private:
  std::atomic<std::uint32_t> m_reached{0};
  std::mutex m_mutex;  // guards changes of m_reached, and all below
  bool m_sleepers = false;
  std::vector<Stream*> m_parked;
};

}  // namespace gantry::host
