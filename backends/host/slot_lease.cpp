// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <backends/host/queue.hpp>
#include <backends/host/slot_lease.hpp>

namespace gantry::host {

int SlotLease::slot_of_this_thread(const Engine& engine) noexcept {
  const ExecutionContext& context = *execution_context();
  if (context.kind != ExecutionContext::Kind::kernel) return ThreadSlots::none;
  const auto* queue = dynamic_cast<const HostQueue*>(context.queue);  // null: a kernel of another backend
  if (queue == nullptr || &queue->engine() != &engine) return ThreadSlots::none;
  return static_cast<int>(context.slot);
}

}  // namespace gantry::host
