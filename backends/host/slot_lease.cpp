// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <backends/host/queue.hpp>
#include <backends/host/slot_lease.hpp>

namespace gantry::host {

int SlotLease::slot_of_this_thread(const Engine& engine) noexcept {
  const HostQueue* queue = HostQueue::of_running_kernel();
  if (queue == nullptr || &queue->engine() != &engine) return ThreadSlots::none;
  return static_cast<int>(execution_context()->slot);
}

}  // namespace gantry::host
