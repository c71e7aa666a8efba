// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <memory>

namespace gantry::host {

class Stream;

/// The device's permits to run kernel code, numbered from 0: at most `count` threads run kernels at any time, and their
/// slots differ. Slot 0 is for threads that launch or fence; worker i prefers slot i.
class ThreadSlots {
 public:
  static constexpr int none = -1;

  explicit ThreadSlots(int count) : m_count(count), m_slots(std::make_unique<Slot[]>(count)) {}

  /// A free slot, `preferred` if possible; none when all are taken. Never waits.
  [[nodiscard]] int take(int preferred) noexcept {
    if (try_take(m_slots[preferred], &m_slots)) [[likely]]
      return preferred;
    for (int slot = 0; slot < m_count; ++slot) {
      if (try_take(m_slots[slot], &m_slots)) return slot;
    }
    return none;
  }
  void give_back(int slot) noexcept { m_slots[slot].holder.store(nullptr, std::memory_order_release); }

  /// Takes slot 0 in the name of a stream; false when it is taken. One total order with runs_inline.
  [[nodiscard]] bool take_for(const Stream& stream) noexcept {
    const void* expected = nullptr;
    return m_slots[0].holder.compare_exchange_strong(expected, &stream, std::memory_order_seq_cst,
                                                     std::memory_order_relaxed);
  }
  /// Whether slot 0 is taken in the name of the stream.
  [[nodiscard]] bool runs_inline(const Stream& stream) const noexcept {
    return m_slots[0].holder.load(std::memory_order_seq_cst) == &stream;
  }

 private:
  struct alignas(64) Slot {
    std::atomic<const void*> holder{nullptr};
  };
  static bool try_take(Slot& slot, const void* holder) noexcept {
    const void* expected = nullptr;
    return slot.holder.load(std::memory_order_relaxed) == nullptr &&
           slot.holder.compare_exchange_strong(expected, holder, std::memory_order_seq_cst, std::memory_order_relaxed);
  }
  int m_count;
  std::unique_ptr<Slot[]> m_slots;
};

}  // namespace gantry::host
