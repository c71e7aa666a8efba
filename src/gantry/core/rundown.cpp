// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/base/membarrier.hpp>
#include <gantry/core/rundown.hpp>

#include <pthread.h>

#include <thread>

#if defined(__SANITIZE_THREAD__)
#define GANTRY_IMPL_TSAN
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define GANTRY_IMPL_TSAN
#endif
#endif

namespace gantry {
namespace impl {
thread_local constinit RundownSlot* t_rundown_slot __attribute__((tls_model("initial-exec"))) = nullptr;
}  // namespace impl

namespace {

/// The slot of a thread that must fence at each entry.
thread_local constinit RundownSlot* t_fenced_slot = nullptr;

/// Every slot there ever was: threads that end leave theirs to others.
constinit std::atomic<RundownSlot*> g_slots{nullptr};

/// True when closers can make other threads pass a fence, so that entering needs none. Thread sanitizer does not know
/// membarrier: its builds always fence.
bool asymmetric() noexcept {
#if defined(GANTRY_IMPL_TSAN)
  return false;
#else
  return membarrier_available();
#endif
}

void release_slot(void* slot) noexcept {
  impl::t_rundown_slot = nullptr;
  t_fenced_slot = nullptr;
  static_cast<RundownSlot*>(slot)->owned.store(false, std::memory_order_release);
}

/// Runs release_slot when a thread ends; a key, because its destructor runs after those of thread_local objects, and
/// again when one of these called in once more.
pthread_key_t exit_key() noexcept {
  static const pthread_key_t key = [] {
    pthread_key_t made{};
    pthread_key_create(&made, &release_slot);
    return made;
  }();
  return key;
}

RundownSlot* take_slot() noexcept {
  for (RundownSlot* slot = g_slots.load(std::memory_order_acquire); slot != nullptr; slot = slot->next) {
    bool owned = false;
    if (slot->owned.compare_exchange_strong(owned, true, std::memory_order_acq_rel)) return slot;
  }
  auto* slot = new RundownSlot;
  slot->next = g_slots.load(std::memory_order_relaxed);
  while (!g_slots.compare_exchange_weak(slot->next, slot, std::memory_order_seq_cst)) {
  }
  return slot;
}

}  // namespace

std::atomic<std::uint32_t>& impl::rundown_enter_slowly(unsigned lane) noexcept {
  RundownSlot* slot = t_fenced_slot;
  if (slot == nullptr) {
    slot = take_slot();
    pthread_setspecific(exit_key(), slot);
    (asymmetric() ? t_rundown_slot : t_fenced_slot) = slot;
  }
  slot->calls[lane].fetch_add(1, std::memory_order_seq_cst);
  return slot->calls[lane];
}

void rundown_publish() noexcept {
  // Without membarrier who enters does it with one sequentially consistent operation: that order is enough.
  if (asymmetric()) membarrier();
}

bool rundown_wait(unsigned lane, std::chrono::steady_clock::time_point deadline) noexcept {
  auto pause = std::chrono::microseconds(1);
  for (RundownSlot* slot = g_slots.load(std::memory_order_seq_cst); slot != nullptr; slot = slot->next) {
    while (slot->calls[lane].load(std::memory_order_seq_cst) != 0) {
      if (std::chrono::steady_clock::now() >= deadline) return false;
      std::this_thread::sleep_for(pause);
      if (pause < std::chrono::milliseconds(1)) pause *= 2;
    }
  }
  return true;
}

}  // namespace gantry
