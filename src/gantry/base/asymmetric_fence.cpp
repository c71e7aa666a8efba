// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/base/asymmetric_fence.hpp>
#include <gantry/base/membarrier.hpp>

namespace gantry {

constinit std::atomic<bool> AsymmetricFence::s_membarrier{false};

void AsymmetricFence::enable() noexcept {
  s_membarrier.store(membarrier_available(), std::memory_order_relaxed);
}

void AsymmetricFence::full() noexcept {
  // A read-modify-write instead of atomic_thread_fence: as strong on every CPU, and thread sanitizer knows it.
  static constinit std::atomic<int> location{0};
  location.fetch_add(0, std::memory_order_seq_cst);
}

void AsymmetricFence::heavy() noexcept {
  full();
  if (s_membarrier.load(std::memory_order_relaxed)) membarrier();
}

}  // namespace gantry
