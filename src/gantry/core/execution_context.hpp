// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/export.hpp>
#include <gantry/core/handle.hpp>

#include <cstdint>

namespace gantry {

class Queue;
struct KernelInfo;
namespace rpc {
struct Channel;
}

/// What the calling thread is doing for a device right now. Set by a backend around kernels and host functions that run
/// on a host thread, and around the handlers of remote procedure calls; read by whoever must not wait for the work it
/// runs under.
struct ExecutionContext {
  /// While a functor is copied or destroyed, which takes no thread slot.
  static constexpr std::uint32_t no_slot = ~std::uint32_t{0};
  enum class Kind : std::uint8_t { kernel, host_function, call_handler };
  Kind kind = Kind::kernel;
  const Queue* queue = nullptr;        ///< of a kernel or host function
  const KernelInfo* kernel = nullptr;  ///< of a kernel
  std::uint32_t slot = 0;              ///< of a kernel: the thread slot that the thread holds, or no_slot
  DeviceId device = -1;                ///< of a handler: whose call it serves
  rpc::Channel* channel = nullptr;     ///< kept by rpc/current_port, with the port, once it was asked for
  std::uint32_t port = 0;
  /// Calls `function(argument)` once the work that this thread runs under has completed, before work behind it starts.
  void (*defer)(ExecutionContext& self, void (*function)(void* argument), void* argument) = nullptr;
};

namespace impl {
/// One pointer a thread; null outside of kernels, host functions and handlers.
GANTRY_API extern thread_local constinit ExecutionContext* t_execution_context
    __attribute__((tls_model("initial-exec")));
}  // namespace impl

/// The calling thread's context, or null. Costs one load.
inline ExecutionContext* execution_context() noexcept {
  return impl::t_execution_context;
}

/// Sets the context for a scope and restores the one before (contexts nest: a kernel run inline within another).
class ExecutionScope {
 public:
  explicit ExecutionScope(ExecutionContext& context) noexcept : m_before(impl::t_execution_context) {
    impl::t_execution_context = &context;
  }
  ~ExecutionScope() { impl::t_execution_context = m_before; }
  ExecutionScope(const ExecutionScope&) = delete;
  ExecutionScope& operator=(const ExecutionScope&) = delete;

 private:
  ExecutionContext* m_before;
};

}  // namespace gantry
