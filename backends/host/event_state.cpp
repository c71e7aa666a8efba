// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <backends/host/event_state.hpp>
#include <backends/host/stream.hpp>
#include <gantry/base/futex.hpp>
#include <gantry/base/spin_lock.hpp>

#include <utility>

namespace gantry::host {

void EventState::reach() {
  std::vector<Stream*> ready;
  bool wake = false;
  {
    const std::lock_guard lock(m_mutex);
    m_reached.store(1, std::memory_order_release);
    wake = std::exchange(m_sleepers, false);
    ready.swap(m_parked);
  }
  if (wake) futex_wake(&m_reached);
  for (Stream* stream : ready) stream->make_ready();
}

bool EventState::park(Stream& stream) {
  const std::lock_guard lock(m_mutex);
  if (reached()) return false;
  m_parked.push_back(&stream);
  return true;
}

void EventState::wait() noexcept {
  for (int polls = 0; polls < 1000; ++polls) {
    if (reached()) return;
    cpu_pause();
  }
  for (;;) {
    {
      const std::lock_guard lock(m_mutex);
      if (reached()) return;
      m_sleepers = true;
    }
    futex_wait(&m_reached, 0);
  }
}

}  // namespace gantry::host
