// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/export.hpp>

#include <atomic>

namespace gantry {

/// Two halves of a store-load fence whose price one side pays: who stores A and then reads B passes light(), who stores
/// B and then reads A passes heavy(); at least one of them sees the other's store. light() is a compiler barrier where
/// the kernel has membarrier, which makes all running threads of the process pass a fence; else both are full fences.
class GANTRY_API AsymmetricFence {
 public:
  static void light() noexcept {
    if (s_membarrier.load(std::memory_order_relaxed)) [[likely]] {
      std::atomic_signal_fence(std::memory_order_seq_cst);
    } else {
      full();
    }
  }
  /// About a microsecond, and an interrupt for every CPU that runs a thread of this process.
  static void heavy() noexcept;

  /// What both halves are where there is no membarrier.
  static void full() noexcept;

  /// Registers with the kernel; before the first use of either half. Idempotent, any thread.
  static void enable() noexcept;

 private:
  static std::atomic<bool> s_membarrier;
};

}  // namespace gantry
