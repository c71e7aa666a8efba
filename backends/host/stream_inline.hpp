// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The shortest way of a launch, in one piece: a tiny kernel on an idle stream.
#pragma once

#include <backends/host/cost.hpp>
#include <backends/host/engine.hpp>
#include <backends/host/guarded.hpp>
#include <backends/host/stream.hpp>
#include <backends/host/work_frame.hpp>

namespace gantry::host {

/// Runs the launch on the calling thread, on the caller's body, when it is as plain as most tiny kernels are; false,
/// with nothing done, when anything is special: see Stream::launch. Every instruction counts: a launch takes about ten
/// nanoseconds, two of them for the one atomic exchange.
template <bool measured>
[[gnu::always_inline]] inline bool Stream::run_at_once(const KernelInfo& kernel, const Launch& launch, const void* body,
                                                       float estimate) {
  const bool plain = kernel.host_join == nullptr && launch.phases == 1 && launch.schedule == Schedule::fixed &&
                     !launch.heavy && launch.share_scratch == 0 && launch.count > 0;
  if (!plain || !(estimate >= 0 && estimate <= m_plain_limit) || m_busy.load(std::memory_order_relaxed) ||
      m_engine.fault.is_set() || !m_engine.slots.take_for(*this)) [[unlikely]]
    return false;
  Engine& engine = m_engine;
  const bool free = !m_held.load(std::memory_order_seq_cst) && !m_busy.load(std::memory_order_acquire) &&
                    (!measured || m_launches % Cost::period != Cost::period - 1);  // the next one is measured
  if (free) [[likely]] {
    if constexpr (measured) ++m_launches;
    m_runs_inline.store(true, std::memory_order_relaxed);
    {
      const WorkFrame frame(&kernel, &m_queue, 0, m_deferred);
      HostWorker worker;
      worker.range = {0, launch.count};
      worker.count = launch.count;
      // Out of line: inlined, it makes the way without a failure save more registers.
      const auto failed = [&](const char* what) __attribute__((noinline)) {
        fail(&kernel, launch.label, what);
      };
      guarded([&] { kernel.host(body, worker); }, failed);
    }
    end_inline();
  }
  engine.slots.give_back(0);  // the stream may be gone
  return free;
}

/// The kernel has returned; the claim is still there.
[[gnu::always_inline]] inline void Stream::end_inline() {
  m_deferred.run();
  m_runs_inline.store(false, std::memory_order_release);
}

}  // namespace gantry::host
