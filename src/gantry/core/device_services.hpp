// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/status.hpp>
#include <gantry/core/handle.hpp>

#include <cstddef>
#include <string>

namespace gantry {

/// What core does for code that runs on an open device, and for who serves its calls. Lives as long as the device is
/// open. Thread safety: any thread.
class DeviceServices {
 public:
  DeviceServices() = default;
  DeviceServices(const DeviceServices&) = delete;
  DeviceServices& operator=(const DeviceServices&) = delete;
  virtual ~DeviceServices() = default;

  [[nodiscard]] virtual DeviceId id() const noexcept = 0;
  [[nodiscard]] virtual const std::string& name() const noexcept = 0;

  /// Device memory as gantry::allocate gives it, also while the device closes, for the kernels that still run then.
  virtual Result<void*> allocate(std::size_t bytes) = 0;
  virtual Status deallocate(void* memory) = 0;
};

}  // namespace gantry
