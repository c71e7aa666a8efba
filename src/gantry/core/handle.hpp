// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

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

}  // namespace gantry
