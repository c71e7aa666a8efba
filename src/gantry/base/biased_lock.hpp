// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/export.hpp>
#include <gantry/base/spin_lock.hpp>

#include <atomic>

namespace gantry {

namespace impl {
/// Its address names the calling thread.
GANTRY_API extern thread_local constinit char t_thread_token __attribute__((tls_model("initial-exec")));
}  // namespace impl

/// SpinLock that costs its main user no atomic read-modify-write (about a nanosecond instead of ten).
///
/// The first thread to take the lock often enough without another in between becomes its owner, and from then on takes
/// it with plain loads and stores. The first other thread that comes along revokes that for ever, once, with a
/// membarrier system call (a few microseconds); the lock is a SpinLock from then on.
class GANTRY_API BiasedLock {
 public:
  void lock() noexcept {
    const char* self = &impl::t_thread_token;
    if (m_owner.load(std::memory_order_acquire) == self) {
      // Pairs with the unlock of an owner that has ended and whose address this thread got.
      (void)m_owner_inside.load(std::memory_order_acquire);
      m_owner_inside.store(true, std::memory_order_relaxed);
      // The membarrier of a revoking thread makes this a full fence whenever one is needed.
      std::atomic_signal_fence(std::memory_order_seq_cst);
      if (m_owner.load(std::memory_order_acquire) == self) return;
      m_owner_inside.store(false, std::memory_order_release);
    }
    lock_unowned(self);
  }

  void unlock() noexcept {
    // Only the owner sets the flag, and never while it holds m_lock.
    if (m_first_owner == &impl::t_thread_token && m_owner_inside.load(std::memory_order_relaxed)) {
      m_owner_inside.store(false, std::memory_order_release);
    } else {
      m_lock.unlock();
    }
  }

 private:
  static constexpr int calls_to_own = 64;
  void lock_unowned(const char* self) noexcept;

  std::atomic<const char*> m_owner{nullptr};  // null: none yet, or revoked
  std::atomic<bool> m_owner_inside{false};
  SpinLock m_lock;  // taken by everybody but an owner; guards the three below
  const char* m_first_owner = nullptr;
  const char* m_last = nullptr;
  int m_streak = 0;
};

}  // namespace gantry
