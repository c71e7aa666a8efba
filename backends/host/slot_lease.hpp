// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <backends/host/engine.hpp>
#include <gantry/core/execution_context.hpp>

namespace gantry::host {

/// A thread slot for the calling thread, for as long as it lives: the one that the thread holds already when it runs a
/// kernel of the device (a kernel within a kernel), else a free one. False when there is none.
class SlotLease {
 public:
  explicit SlotLease(Engine& engine) noexcept : m_engine(engine) {
    if (execution_context() != nullptr) [[unlikely]] {
      m_number = slot_of_this_thread(engine);
      m_lent = m_number != ThreadSlots::none;
      if (m_lent) return;
    }
    m_number = engine.slots.take(0);
  }
  ~SlotLease() {
    if (m_number != ThreadSlots::none && !m_lent) m_engine.slots.give_back(m_number);
  }
  SlotLease(const SlotLease&) = delete;
  SlotLease& operator=(const SlotLease&) = delete;

  explicit operator bool() const noexcept { return m_number != ThreadSlots::none; }
  [[nodiscard]] int number() const noexcept { return m_number; }

 private:
  static int slot_of_this_thread(const Engine& engine) noexcept;
  Engine& m_engine;
  int m_number;
  bool m_lent = false;
};

}  // namespace gantry::host
