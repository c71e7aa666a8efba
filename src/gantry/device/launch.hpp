// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/device/for_each.hpp>
#include <gantry/device/kernel.hpp>
#include <gantry/device/range.hpp>

#include <cstdint>

namespace gantry {

/// Enqueues functor(i) for each i of [0, count) and returns without waiting: the launch of a program that does not use
/// Kokkos. The functor is copied; what it points to must be reachable by the queue's device and live until the kernel
/// has run. `options` may set the schedule, chunk, label and heavy; a count below 1 runs nothing.
///
///     gantry::parallel_for(queue, n, [=](std::int64_t i) { y[i] += a * x[i]; });
template <class Queue, class Functor>
[[nodiscard]] auto parallel_for(const Queue& queue, std::int64_t count, const Functor& functor, Launch options = {}) {
  using B = ForEach<Functor, Range<std::int64_t>>;
  options.count = count > 0 ? count : 0;
  const B body{functor, {}};
  return queue.launch(Kernel<B>::info, options, &body);
}

}  // namespace gantry
