// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <backends/host/engine.hpp>

namespace gantry::host {

/// A thread slot for the calling thread, which holds none, for as long as it lives. False when none is free.
class SlotLease {
 public:
  explicit SlotLease(Engine& engine) noexcept : m_engine(engine), m_number(engine.slots.take(0)) {}
  ~SlotLease() {
    if (m_number != ThreadSlots::none) m_engine.slots.give_back(m_number);
  }
  SlotLease(const SlotLease&) = delete;
  SlotLease& operator=(const SlotLease&) = delete;

  explicit operator bool() const noexcept { return m_number != ThreadSlots::none; }
  [[nodiscard]] int number() const noexcept { return m_number; }

 private:
  Engine& m_engine;
  const int m_number;
};

}  // namespace gantry::host
