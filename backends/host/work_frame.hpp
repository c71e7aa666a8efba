// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/core/execution_context.hpp>

#include <atomic>

namespace gantry::host {

/// A function to call once some work has completed (ExecutionContext::defer).
struct Deferred {
  void (*function)(void*);
  void* argument;
  Deferred* next;
};

/// What the threads that run one piece of work asked to be called after it. Thread safety: push, any thread.
class DeferredList {
 public:
  void push(void (*function)(void*), void* argument) {
    auto* added = new Deferred{function, argument, m_first.load(std::memory_order_relaxed)};
    while (!m_first.compare_exchange_weak(added->next, added, std::memory_order_release, std::memory_order_relaxed)) {
    }
  }
  /// Calls and drops them all; the work has completed, so nobody pushes.
  void run() noexcept {
    if (m_first.load(std::memory_order_relaxed) == nullptr) [[likely]]
      return;
    for (Deferred* next = m_first.exchange(nullptr, std::memory_order_acquire); next != nullptr;) {
      Deferred* deferred = next;
      next = deferred->next;
      deferred->function(deferred->argument);
      delete deferred;
    }
  }

 private:
  std::atomic<Deferred*> m_first{nullptr};
};

/// The execution context of a thread that runs work of a host stream, for as long as it lives.
class WorkFrame : public ExecutionContext {
 public:
  /// `of`: null for a host function.
  WorkFrame(const KernelInfo* of, const Queue* on, std::uint32_t thread_slot, DeferredList& list) noexcept
      : m_deferred(list),
        m_scope((kind = of != nullptr ? Kind::kernel : Kind::host_function, kernel = of, queue = on, slot = thread_slot,
                 defer = &push, *this)) {}

 private:
  static void push(ExecutionContext& self, void (*function)(void*), void* argument) {
    static_cast<WorkFrame&>(self).m_deferred.push(function, argument);
  }
  DeferredList& m_deferred;
  ExecutionScope m_scope;
};

}  // namespace gantry::host
