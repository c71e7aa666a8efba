// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

namespace gantry::exploration {

/// What the scheduler lets happen next: a thread's step, one way or the other, or that its oldest store reaches memory.
enum Variant : std::uint8_t { usual, other, idle, flush };
using Choice = std::uint8_t;

constexpr Choice choice(unsigned thread, Variant variant) noexcept {
  return static_cast<Choice>(thread * 4 + variant);
}
constexpr unsigned thread_of(Choice by) noexcept {
  return by / 4;
}
constexpr Variant variant_of(Choice by) noexcept {
  return static_cast<Variant>(by % 4);
}

}  // namespace gantry::exploration
