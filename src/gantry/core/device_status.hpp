// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/export.hpp>
#include <gantry/core/device.hpp>
#include <gantry/core/handle.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gantry {

/// closed -> opening -> ready -> (poisoned) -> closing -> closed.
enum class DeviceState : std::uint8_t { closed, opening, ready, poisoned, closing };
/// As it appears in messages and in JSON ("ready").
[[nodiscard]] GANTRY_API std::string_view device_state_name(DeviceState state) noexcept;

/// A device of the list, and what it is doing.
struct DeviceStatus {
  DeviceInfo info;
  DeviceState state = DeviceState::closed;
  std::uint32_t generation = 0;
  std::string selection;         ///< why it is (or is not) the default device
  std::size_t used_bytes = 0;    ///< held by the program
  std::size_t cached_bytes = 0;  ///< held by the memory pool for reuse
  std::size_t peak_bytes = 0;    ///< most that the program held at once in this open period
};

/// The device that a program gets when it names none, and why.
struct DeviceChoice {
  DeviceId id = 0;
  std::string reason;  ///< "host because no GPU is a candidate, GANTRY_DEVICES unset"
};

enum class CloseMode : std::uint8_t {
  refuse_if_busy,  ///< `busy`, with the list, while the program holds memory, queues or events; nothing is changed
  force,           ///< reports what is held, then takes it back
};

}  // namespace gantry
