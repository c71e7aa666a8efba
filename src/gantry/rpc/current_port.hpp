// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/export.hpp>
#include <gantry/core/execution_context.hpp>
#include <gantry/rpc/client.hpp>
#include <gantry/rpc/host_platform.hpp>

#include <cstddef>
#include <cstdint>

namespace gantry::rpc {

/// The way to the host of code that a host device runs.
struct CurrentPort {
  Channel* channel = nullptr;  ///< null: the thread runs no such code
  std::uint32_t number = 0;    ///< one for each thread slot, and the last one for threads without
  /// Nobody else can have a slot's port.
  [[nodiscard]] Client<HostPlatform> open() const noexcept {
    return Client<HostPlatform>(*channel, number, HostPlatform{number + 1 < channel->ports});
  }
  explicit operator bool() const noexcept { return channel != nullptr; }
};

namespace impl {
GANTRY_API CurrentPort find_port(ExecutionContext& context) noexcept;
}

/// The calling thread's, while it runs a kernel or a host function.
[[nodiscard]] inline CurrentPort current_port() noexcept {
  ExecutionContext* context = execution_context();
  if (context == nullptr) return {};
  if (context->channel == nullptr) return impl::find_port(*context);
  return {context->channel, context->port};
}

}  // namespace gantry::rpc
