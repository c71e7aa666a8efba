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
///
/// Of few items mostly the call itself is measured. So an estimate errs upwards for more items than were measured, a
/// launch of far more items is measured and trains anew, and fewer items count for less.
class Cost {
 public:
  static constexpr std::uint32_t training = 4;
  static constexpr std::uint32_t period = 64;
  /// As KernelCost::samples: the kernel's launches bring their estimate and are not measured.
  static constexpr std::uint32_t never = ~std::uint32_t{0};
  static constexpr float unknown = -1;
  /// Nanoseconds that a measurement cannot tell from none.
  static constexpr float resolution = 10;

  /// In nanoseconds for all items together; `unknown` before the first measurement.
  [[nodiscard]] static float estimate(const KernelInfo& kernel, std::int64_t count,
                                      std::uint32_t least_samples = 1) noexcept {
    if (kernel.cost.samples.load(std::memory_order_relaxed) < least_samples) [[unlikely]]
      return unknown;
    return kernel.cost.ns_per_item.load(std::memory_order_relaxed) * static_cast<float>(count);
  }
  /// As estimate, but `unknown` until training has ended.
  [[nodiscard]] static float trained_estimate(const KernelInfo& kernel, std::int64_t count) noexcept {
    return estimate(kernel, count, training);
  }
  /// Whether to measure; `launches` counts those of one queue, one thread would measure one of `shares` parts of
  /// `items`.
  [[nodiscard]] static bool wanted(const KernelInfo& kernel, std::uint32_t launches, std::int64_t items,
                                   std::uint32_t shares = 1) noexcept {
    const std::uint32_t samples = kernel.cost.samples.load(std::memory_order_relaxed);
    return (launches % period == 0 && samples != never) || samples < training ||
           far_more(kernel, static_cast<float>(items), static_cast<float>(shares));
  }
  /// `time` is what two looks at the clock say, `clock` what looking adds to it.
  static void learn(const KernelInfo& kernel, std::int64_t items, std::chrono::nanoseconds time,
                    std::chrono::nanoseconds clock = clock_cost()) noexcept {
    if (items <= 0) return;
    const float size = static_cast<float>(items);
    const float seen = std::max(static_cast<float>((time - clock).count()), resolution) / size;
    std::uint32_t samples = kernel.cost.samples.load(std::memory_order_relaxed);
    if (far_more(kernel, size, 1)) samples = 0;
    const float before = kernel.cost.ns_per_item.load(std::memory_order_relaxed);
    const float largest = samples == 0 ? size : std::max(kernel.cost.items.load(std::memory_order_relaxed), size);
    float now = seen;
    if (samples > 0 && samples < training) now = std::min(before, seen);
    if (samples >= training) now = before + (std::min(seen, 7 * before + 1) - before) / 2 * (size / largest);
    kernel.cost.ns_per_item.store(now, std::memory_order_relaxed);
    // Halved, so that a kernel that has become smaller for good is learnt anew.
    kernel.cost.items.store(samples < training ? largest : std::max(size, largest / 2), std::memory_order_relaxed);
    if (samples < training) kernel.cost.samples.store(samples + 1, std::memory_order_relaxed);
  }

 private:
  [[nodiscard]] static bool far_more(const KernelInfo& kernel, float items, float shares) noexcept {
    const float measured = kernel.cost.items.load(std::memory_order_relaxed);
    return measured > 0 && items > 2 * measured * shares;
  }
  [[nodiscard]] static std::chrono::nanoseconds clock_cost() noexcept {
    using Clock = std::chrono::steady_clock;
    static const std::chrono::nanoseconds least = [] {
      auto smallest = std::chrono::nanoseconds::max();
      for (int i = 0; i < 8; ++i) {
        const auto start = Clock::now();
        smallest = std::min<std::chrono::nanoseconds>(smallest, Clock::now() - start);
      }
      return smallest;
    }();
    return least;
  }
};

}  // namespace gantry::host
