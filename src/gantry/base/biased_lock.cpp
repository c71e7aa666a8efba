// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/base/biased_lock.hpp>

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace gantry {
namespace impl {
thread_local constinit char t_thread_token = 0;
}

namespace {

bool membarrier(int command) noexcept { return ::syscall(SYS_membarrier, command, 0, 0) == 0; }

bool can_revoke() noexcept {
  static const bool registered = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
  return registered;
}

}  // namespace

void BiasedLock::lock_unowned(const char* self) noexcept {
  m_lock.lock();
  if (m_owner.load(std::memory_order_relaxed) != nullptr) {
    m_owner.store(nullptr, std::memory_order_seq_cst);
    membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
    for (int spins = 0; m_owner_inside.load(std::memory_order_acquire); ++spins) SpinLock::wait(spins);
  } else if (m_first_owner == nullptr) {
    m_streak = m_last == self ? m_streak + 1 : 1;
    m_last = self;
    if (m_streak == calls_to_own && can_revoke()) {
      m_first_owner = self;
      m_owner.store(self, std::memory_order_release);
    }
  }
}

}  // namespace gantry
