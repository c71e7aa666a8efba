// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/base/biased_lock.hpp>
#include <gantry/base/membarrier.hpp>

namespace gantry {
namespace impl {
thread_local constinit char t_thread_token = 0;
}

void BiasedLock::lock_unowned(const char* self) noexcept {
  m_lock.lock();
  if (m_owner.load(std::memory_order_relaxed) != nullptr) {
    m_owner.store(nullptr, std::memory_order_seq_cst);
    membarrier();
    for (int spins = 0; m_owner_inside.load(std::memory_order_acquire); ++spins) SpinLock::wait(spins);
  } else if (m_first_owner == nullptr) {
    m_streak = m_last == self ? m_streak + 1 : 1;
    m_last = self;
    if (m_streak == calls_to_own && membarrier_available()) {
      m_first_owner = self;
      m_owner.store(self, std::memory_order_release);
    }
  }
}

}  // namespace gantry
