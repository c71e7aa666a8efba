// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <unit_tests/support/fake_driver.hpp>

#include <gantry/core/backend.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gantry::test {

/// Devices that are made of nothing but memory: a launch runs on the launching thread unless the driver holds work.
/// Memory is the process's own, as much as `memory_bytes`.
class FakeBackend final : public Backend {
 public:
  explicit FakeBackend(int device_count = 1, std::string name = "fake")
      : m_count(device_count), m_name(std::move(name)) {}

  [[nodiscard]] std::string_view name() const noexcept override { return m_name; }
  [[nodiscard]] bool candidate() const noexcept override { return is_candidate; }
  Availability probe() override;
  Result<std::vector<DeviceInfo>> devices(const ProcessResources& resources) override;
  Result<std::unique_ptr<Device>> open(const DeviceInfo& info, const ProcessResources& resources) override;

  bool is_candidate = true;
  Availability availability{true, "the fake driver is always there"};
  std::size_t memory_bytes = std::size_t{1} << 30;
  int probes = 0;
  FakeDriver driver;

 private:
  const int m_count;
  const std::string m_name;
};

}  // namespace gantry::test
