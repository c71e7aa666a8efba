// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/status.hpp>
#include <gantry/core/device.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace gantry::host {

class Protection;

/// What the process may have: of the machine, its control group and its address-space limit, the least.
[[nodiscard]] MemoryInfo process_memory() noexcept;

/// Memory of one device, straight from the operating system and page-granular: huge pages from 4 MiB on, first touched
/// by who uses it first. Every device has an equal part of the process's memory as its budget.
/// Thread safety: all functions, any thread.
class Memory {
 public:
  Memory(std::string device_name, int devices, Protection* protection)
      : m_device_name(std::move(device_name)), m_devices(devices), m_protection(protection) {}

  Result<void*> allocate(MemoryKind kind, std::size_t bytes);
  Status free(MemoryKind kind, void* memory, std::size_t bytes);
  [[nodiscard]] MemoryInfo info() const noexcept;

 private:
  const std::string m_device_name;
  const int m_devices;
  Protection* const m_protection;  // null: off
  std::atomic<std::uint64_t> m_used{0};
};

}  // namespace gantry::host
