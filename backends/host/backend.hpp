// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <backends/host/protection.hpp>
#include <gantry/core/backend.hpp>
#include <gantry/rpc/server.hpp>

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
  [[nodiscard]] CallStatistics call_statistics() const override { return m_server.statistics(); }

 private:
  rpc::Server m_server{
      rpc::Server::Options{.name = "host", .on_thread_start = &Protection::revoke_all_from_this_thread}};
};

/// The process's host backend; never destroyed.
[[nodiscard]] Backend& backend();

}  // namespace gantry::host
