// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <thread>

namespace gantry {

/// Tells the CPU that the thread polls.
inline void cpu_pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Lock for critical sections of a few dozen instructions: one atomic exchange to take it, a plain store to give it
/// back, half the price of std::mutex. Yields the CPU when its holder seems to have lost its own.
class SpinLock {
 public:
  void lock() noexcept {
    while (m_held.exchange(true, std::memory_order_acquire)) {
      for (int spins = 0; m_held.load(std::memory_order_relaxed); ++spins) wait(spins);
    }
  }
  void unlock() noexcept { m_held.store(false, std::memory_order_release); }

  /// One step of waiting for another thread, `spins` steps after the first.
  static void wait(int spins) noexcept {
    if (spins >= 100) {
      std::this_thread::yield();
      return;
    }
    cpu_pause();
  }

 private:
  std::atomic<bool> m_held{false};
};

}  // namespace gantry
