// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <backends/host/asymmetric_fence.hpp>

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace gantry::host {

constinit std::atomic<bool> AsymmetricFence::s_membarrier{false};

void AsymmetricFence::enable() noexcept {
  if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0)
    s_membarrier.store(true, std::memory_order_relaxed);
}

void AsymmetricFence::full() noexcept {
  // A read-modify-write instead of atomic_thread_fence: as strong on every CPU, and thread sanitizer knows it.
  static constinit std::atomic<int> location{0};
  location.fetch_add(0, std::memory_order_seq_cst);
}

void AsymmetricFence::heavy() noexcept {
  full();
  if (s_membarrier.load(std::memory_order_relaxed)) syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

}  // namespace gantry::host
