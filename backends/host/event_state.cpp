// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <backends/host/event_state.hpp>
#include <backends/host/futex.hpp>
#include <backends/host/stream.hpp>

#include <algorithm>
#include <utility>

namespace gantry::host {

void EventState::reach(std::uint64_t ticket) {
  std::vector<Stream*> ready;
  bool wake = false;
  {
    const std::lock_guard lock(m_mutex);
    if (ticket <= m_reached.load(std::memory_order_relaxed)) return;
    m_reached.store(ticket, std::memory_order_release);
    wake = std::exchange(m_sleepers, false);
    std::erase_if(m_parked, [&](const Parked& parked) {
      if (parked.ticket > ticket) return false;
      ready.push_back(parked.stream);
      return true;
    });
  }
  if (wake) futex_wake(low_half(m_reached));
  for (Stream* stream : ready) stream->make_ready();
}

bool EventState::park(std::uint64_t ticket, Stream& stream) {
  const std::lock_guard lock(m_mutex);
  if (reached(ticket)) return false;
  m_parked.push_back({ticket, &stream});
  return true;
}

void EventState::wait(std::uint64_t ticket) noexcept {
  for (int polls = 0; polls < 1000; ++polls) {
    if (reached(ticket)) return;
    pause();
  }
  for (;;) {
    std::uint64_t seen = 0;
    {
      const std::lock_guard lock(m_mutex);
      seen = m_reached.load(std::memory_order_acquire);
      if (seen >= ticket) return;
      m_sleepers = true;
    }
    futex_wait(low_half(m_reached), static_cast<std::uint32_t>(seen));
  }
}

}  // namespace gantry::host
