// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <memory>

namespace gantry::host {

/// The device's permits to run kernel code, numbered from 0: at most `count` threads run kernels at any time, and their
/// slots differ. Slot 0 is for threads that launch or fence; worker i prefers slot i.
class ThreadSlots {
 public:
  static constexpr int none = -1;

  explicit ThreadSlots(int count) : m_count(count), m_slots(std::make_unique<Slot[]>(count)) {}

  /// A free slot, `preferred` if possible; none when all are taken. Never waits.
  [[nodiscard]] int take(int preferred) noexcept {
    if (!m_slots[preferred].taken.exchange(true, std::memory_order_acquire)) [[likely]] return preferred;
    for (int slot = 0; slot < m_count; ++slot) {
      std::atomic<bool>& taken = m_slots[slot].taken;
      if (!taken.load(std::memory_order_relaxed) && !taken.exchange(true, std::memory_order_acquire)) return slot;
    }
    return none;
  }
  void give_back(int slot) noexcept { m_slots[slot].taken.store(false, std::memory_order_release); }

 private:
  struct alignas(64) Slot {
    std::atomic<bool> taken{false};
  };
  int m_count;
  std::unique_ptr<Slot[]> m_slots;
};

}  // namespace gantry::host
