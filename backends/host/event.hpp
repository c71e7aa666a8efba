// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <backends/host/event_state.hpp>
#include <gantry/base/spin_lock.hpp>
#include <gantry/core/event.hpp>

#include <memory>
#include <mutex>
#include <utility>

namespace gantry::host {

/// A host event; queues of every host device may record it and wait for it. Each record has a state of its own, which
/// its command and who waits for it hold: a later record changes nothing for them, and the event may die.
class HostEvent final : public Event {
 public:
  [[nodiscard]] bool ready() const noexcept override {
    const std::shared_ptr<EventState> last = state();
    return last == nullptr || last->reached();
  }
  Status sync() override {
    if (const std::shared_ptr<EventState> last = state(); last != nullptr) last->wait();
    return {};
  }
  Status close() override { return {}; }

  /// The last record; null when there was none, or when it was reached as it was made.
  [[nodiscard]] std::shared_ptr<EventState> state() const noexcept {
    const std::lock_guard lock(m_lock);
    return m_state;
  }
  /// A new record.
  void set_state(std::shared_ptr<EventState> state) noexcept {
    const std::lock_guard lock(m_lock);
    m_state.swap(state);
  }

 private:
  mutable SpinLock m_lock;  // guards m_state
  std::shared_ptr<EventState> m_state;
};

}  // namespace gantry::host
