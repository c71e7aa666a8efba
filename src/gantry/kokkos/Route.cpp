// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/kokkos/Route.hpp>

namespace gantry::impl {

Allocation allocation_at(const void* memory) {
  Allocation found;
  if (find_allocation(memory, found)) return found;
  check(devices().status(), "memory of a device");  // a forked child is told what it is
  throw Error(Status::error(Code::invalid_argument,
                            "a View of device memory holds an address that is no memory of an open device: it was "
                            "freed, its device was closed since, or it was not allocated by Gantry"));
}

QueueRef queue_of(DeviceHandle device) {
  auto queue = default_queue(device);
  check(queue.status(), "the default queue");
  return *queue;
}

Route::Route(const Offload& exec, const Allocation& memory) : m_exec(exec) {
  if (memory.kind != MemoryKind::device || memory.device == exec.device()) return;
  exec.fence();
  m_exec = Offload(queue_of(memory.device));
  m_rerouted = true;
}

void Route::finish() const {
  if (m_rerouted) m_exec.fence();
}

}  // namespace gantry::impl
