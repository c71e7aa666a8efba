// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/core/device.hpp>
#include <gantry/core/handle.hpp>

#include <cstddef>

namespace gantry {

/// Memory that the program holds on a device.
struct Allocation {
  DeviceHandle device;
  MemoryKind kind = MemoryKind::device;
  void* base = nullptr;
  std::size_t bytes = 0;
};

}  // namespace gantry
