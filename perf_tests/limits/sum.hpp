// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "limits/spin_pool.hpp"

namespace perf {

/// Sum of value(0) ... value(n - 1) in an order that lets the compiler use vector registers.
template <class Value>
double pool_sum(std::int64_t n, Value value) {
  struct alignas(128) Part {
    double sum;
  };
  Part parts[SpinPool::threads];
  SpinPool::get().run([&](int thread) {
    constexpr int lanes = 32;
    double sums[lanes] = {};
    const Half half(thread, n);
    std::int64_t i = half.begin;
    for (; i + lanes <= half.end; i += lanes) {
      for (int lane = 0; lane < lanes; ++lane) sums[lane] += value(i + lane);
    }
    for (; i < half.end; ++i) sums[0] += value(i);
    for (int lane = 1; lane < lanes; ++lane) sums[0] += sums[lane];
    parts[thread].sum = sums[0];
  });
  return parts[0].sum + parts[1].sum;
}

}  // namespace perf
