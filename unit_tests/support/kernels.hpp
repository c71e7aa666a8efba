// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/core/kernel.hpp>
#include <gantry/core/queue.hpp>

#include <cstdint>
#include <new>

namespace gantry::test {

/// The kernel whose body is a closure that is called with the worker: `function(HostWorker&)`.
template <class Function>
const KernelInfo& kernel_of(const Function&) {
  static constinit KernelInfo info{
      .type = "test kernel",
      .size = sizeof(Function),
      .align = alignof(Function),
      .copy = [](void* to, const void* from) { new (to) Function(*static_cast<const Function*>(from)); },
      .destroy = [](void* body) { static_cast<Function*>(body)->~Function(); },
      .host = [](const void* body, HostWorker& worker) { (*static_cast<const Function*>(body))(worker); },
      .host_join = nullptr,
      .cost = {}};
  return info;
}

/// Launches a closure that is called with each item of [0, launch.count).
template <class Function>
Status for_each(Queue& queue, Launch launch, const Function& function) {
  const auto body = [function](HostWorker& worker) {
    for (WorkRange piece; worker.next(piece);) {
      for (std::int64_t i = piece.begin; i < piece.end; ++i) function(i);
    }
  };
  return queue.launch(kernel_of(body), launch, &body);
}
template <class Function>
Status for_each(Queue& queue, std::int64_t count, const Function& function) {
  Launch launch;
  launch.count = count;
  return for_each(queue, launch, function);
}

/// A body that is called with the worker for each share and phase, and with the join after each phase.
template <class Share, class Join>
Status launch_joined(Queue& queue, const Launch& launch, const Share& share, const Join& join) {
  struct Body {
    Share share;
    Join join;
  };
  static constinit KernelInfo info{
      .type = "test kernel with a join",
      .size = sizeof(Body),
      .align = alignof(Body),
      .copy = [](void* to, const void* from) { new (to) Body(*static_cast<const Body*>(from)); },
      .destroy = [](void* body) { static_cast<Body*>(body)->~Body(); },
      .host = [](const void* body, HostWorker& worker) { static_cast<const Body*>(body)->share(worker); },
      .host_join = [](const void* body, const HostJoin& j) { static_cast<const Body*>(body)->join(j); },
      .cost = {}};
  const Body body{share, join};
  return queue.launch(info, launch, &body);
}

}  // namespace gantry::test
