// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/export.hpp>

#include <cstdint>
#include <string_view>

namespace gantry {

/// Index of a device in the list that devices() returns: what GANTRY_DEVICES accepts, in its order.
using DeviceId = int;

/// Names one open period of one device. The generation advances when the device CLOSES, so a handle made before the
/// close is stale for ever, and is refused.
struct DeviceHandle {
  DeviceId id = -1;
  std::uint32_t generation = 0;
  bool operator==(const DeviceHandle&) const = default;
};

/// closed -> opening -> ready -> (poisoned) -> closing -> closed.
enum class DeviceState : std::uint8_t { closed, opening, ready, poisoned, closing };
/// As it appears in messages and in JSON ("ready").
[[nodiscard]] GANTRY_API std::string_view device_state_name(DeviceState state) noexcept;

}  // namespace gantry
