// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "field.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace heat {

/// A device that carries one part of the grid.
struct Device {
  Space space;
  std::string name;
  std::string why;                 ///< how it was chosen
  std::uint64_t memory_bytes = 0;  ///< in all
};

/// The default device and, for `count` > 1, those that follow it in the list. Throws InputError when there are fewer.
[[nodiscard]] std::vector<Device> choose_devices(int count);

/// Makes the device's kernels print to stderr; does nothing without Gantry.
void print_to_stderr(const Device& device);

/// Another queue of the same device, for copies that run beside the solver's kernels.
[[nodiscard]] Space another_queue(const Device& device);

}  // namespace heat
