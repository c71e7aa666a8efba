// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <backends/host/event_state.hpp>
#include <gantry/core/event.hpp>

#include <memory>

namespace gantry::host {

/// A host event; queues of every host device may record it and wait for it.
class HostEvent final : public Event {
 public:
  [[nodiscard]] bool ready() const noexcept override { return m_state->reached(m_state->last_ticket()); }
  Status sync() override {
    m_state->wait(m_state->last_ticket());
    return {};
  }
  Status close() override { return {}; }

  /// Commands hold the state: the event itself may die while they are enqueued.
  [[nodiscard]] const std::shared_ptr<EventState>& state() const noexcept { return m_state; }

 private:
  std::shared_ptr<EventState> m_state = std::make_shared<EventState>();
};

}  // namespace gantry::host
