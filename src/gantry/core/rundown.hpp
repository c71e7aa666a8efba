// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace gantry {

/// What one thread tells closers: how many of its calls are inside each lane. Written by its thread only.
struct alignas(64) RundownSlot {
  static constexpr unsigned lanes = 64;
  std::atomic<std::uint32_t> calls[lanes] = {};
  std::atomic<bool> owned{true};
  RundownSlot* next = nullptr;
};

namespace impl {
/// Null for a thread that never called in, and for every thread where entering needs a full fence.
extern thread_local constinit RundownSlot* t_rundown_slot __attribute__((tls_model("initial-exec")));
std::atomic<std::uint32_t>& rundown_enter_slowly(unsigned lane) noexcept;
}  // namespace impl

/// Marks a call in progress, for as long as it lives. Devices share a lane only from the 65th on (a closer then also
/// waits for the calls of the others). Guards nest, in one lane and across lanes.
///
/// Entering is two plain stores and no fence: rundown_publish() makes every running thread pass one instead. Who enters
/// must afterwards look whether it may stay; who closes stores that it may not, publishes, and waits for the rest.
class RundownGuard {
 public:
  explicit RundownGuard(unsigned lane) noexcept {
    if (RundownSlot* slot = impl::t_rundown_slot; slot != nullptr) [[likely]] {
      m_calls = &slot->calls[lane];
      m_calls->store(m_calls->load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      std::atomic_signal_fence(std::memory_order_seq_cst);
    } else {
      m_calls = &impl::rundown_enter_slowly(lane);
    }
  }
  ~RundownGuard() { m_calls->store(m_calls->load(std::memory_order_relaxed) - 1, std::memory_order_release); }
  RundownGuard(const RundownGuard&) = delete;
  RundownGuard& operator=(const RundownGuard&) = delete;

 private:
  std::atomic<std::uint32_t>* m_calls;
};

/// After it every other thread either sees what the caller stored before (in sequentially consistent order), or is seen
/// by rundown_wait.
void rundown_publish() noexcept;

/// Waits until no call is inside the lane; false when the deadline came first. The caller must not be inside itself.
[[nodiscard]] bool rundown_wait(unsigned lane, std::chrono::steady_clock::time_point deadline) noexcept;

}  // namespace gantry
