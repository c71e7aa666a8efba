// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/core/kernel.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace gantry::host {

/// What a kernel will take on one thread, learnt from what it took.
///
/// The first `training` launches are measured, then one in `period`. While training the smallest figure counts (first
/// runs pay for cold memory); later figures are averaged in, and one outlier raises the estimate fourfold at most, so
/// that a preempted measurement does not turn a tiny kernel into a parallel one.
class Cost {
 public:
  static constexpr std::uint32_t training = 4;
  static constexpr std::uint32_t period = 64;
  static constexpr float unknown = -1;

  /// In nanoseconds for all items together; `unknown` before the first measurement.
  [[nodiscard]] static float estimate(const KernelInfo& kernel, std::int64_t count) noexcept {
    if (kernel.cost.samples.load(std::memory_order_relaxed) == 0) [[unlikely]] return unknown;
    return kernel.cost.ns_per_item.load(std::memory_order_relaxed) * static_cast<float>(count);
  }
  /// Whether to measure; `launches` counts those of one queue.
  [[nodiscard]] static bool wanted(const KernelInfo& kernel, std::uint32_t launches) noexcept {
    return launches % period == 0 || kernel.cost.samples.load(std::memory_order_relaxed) < training;
  }
  static void learn(const KernelInfo& kernel, std::int64_t items, std::chrono::nanoseconds time) noexcept {
    if (items <= 0) return;
    const float seen = static_cast<float>(time.count()) / static_cast<float>(items);
    const std::uint32_t samples = kernel.cost.samples.load(std::memory_order_relaxed);
    const float before = kernel.cost.ns_per_item.load(std::memory_order_relaxed);
    float now = seen;
    if (samples > 0 && samples < training) now = std::min(before, seen);
    if (samples >= training) now = (before + std::min(seen, 7 * before + 1)) / 2;
    kernel.cost.ns_per_item.store(now, std::memory_order_relaxed);
    if (samples < training) kernel.cost.samples.store(samples + 1, std::memory_order_relaxed);
  }
};

}  // namespace gantry::host
