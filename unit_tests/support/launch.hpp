// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/core/kernel.hpp>
#include <gantry/core/queue_ref.hpp>

#include <new>

namespace gantry::test {

/// Launches `function()` once on a queue, as a kernel of one item. The function is copied as any closure is.
template <class Function>
Status launch(const QueueRef& queue, const Function& function, const char* label = "test kernel") {
  static constinit KernelInfo info{
      .type = "test kernel",
      .size = sizeof(Function),
      .align = alignof(Function),
      .copy = [](void* to, const void* from) { new (to) Function(*static_cast<const Function*>(from)); },
      .destroy = [](void* body) { static_cast<Function*>(body)->~Function(); },
      .host =
          [](const void* body, HostWorker& worker) {
            WorkRange piece;
            while (worker.next(piece)) {
              for (auto i = piece.begin; i < piece.end; ++i) (*static_cast<const Function*>(body))();
            }
          },
      .host_join = nullptr,
      .cost = {}};
  Launch launch;
  launch.count = 1;
  launch.label = label;
  return queue.launch(info, launch, &function);
}

}  // namespace gantry::test
