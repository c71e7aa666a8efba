// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/core/backend.hpp>

namespace gantry::host {

/// The CPUs of the process as devices; always available.
class HostBackend final : public Backend {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "host"; }
  [[nodiscard]] bool candidate() const noexcept override { return true; }
  Availability probe() override { return {true, "the process's own CPUs"}; }
  Result<std::vector<DeviceInfo>> devices(const ProcessResources& resources) override;
  void describe(DeviceInfo& info, const ProcessResources& resources) override;
  Result<std::unique_ptr<Device>> open(const DeviceInfo& info, const ProcessResources& resources) override;
};

/// The process's host backend; never destroyed.
[[nodiscard]] Backend& backend();

}  // namespace gantry::host
