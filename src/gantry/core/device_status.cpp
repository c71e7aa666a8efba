// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/core/device_status.hpp>

namespace gantry {

std::string_view device_state_name(DeviceState state) noexcept {
  switch (state) {
    case DeviceState::closed: return "closed";
    case DeviceState::opening: return "opening";
    case DeviceState::ready: return "ready";
    case DeviceState::poisoned: return "poisoned";
    case DeviceState::closing: return "closing";
  }
  return "unknown";
}

}  // namespace gantry
