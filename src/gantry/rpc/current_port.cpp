// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/core/queue.hpp>
#include <gantry/rpc/current_port.hpp>

namespace gantry::rpc::impl {

CurrentPort find_port(ExecutionContext& context) noexcept {
  if (context.queue == nullptr) return {};
  context.channel = context.queue->channel();
  if (context.channel == nullptr) return {};
  const std::uint32_t last = context.channel->ports - 1;
  const bool has_slot = context.kind == ExecutionContext::Kind::kernel && context.slot < last;
  context.port = has_slot ? context.slot : last;
  return {context.channel, context.port};
}

}  // namespace gantry::rpc::impl
