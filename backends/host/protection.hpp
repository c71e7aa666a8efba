// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/settings.hpp>
#include <gantry/base/status.hpp>

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace gantry::host {

/// GANTRY_PROTECT: keeps host code out of the device memory of one device. Who runs kernels and copies opens it with an
/// AccessScope; an access from anywhere else ends the process by SIGSEGV, as without protection, after a message that
/// names the allocation.
///
/// With protection keys access is a right of the thread. With pages it is open to all threads while any kernel of the
/// device runs, so launches must block.
class Protection {
 public:
  /// Null when `mode` is off.
  static Result<std::unique_ptr<Protection>> create(Protect mode, std::string device_name);
  ~Protection();
  Protection(const Protection&) = delete;
  Protection& operator=(const Protection&) = delete;

  [[nodiscard]] bool by_pages() const noexcept { return m_key < 0; }

  /// Makes a readable and writable mapping device memory.
  Status add(void* memory, std::size_t bytes);
  /// Ends such a mapping. Its contents go at once; its addresses stay inaccessible, also when the device has closed,
  /// until many others were given back after it.
  Status give_back(void* memory, std::size_t bytes);

  /// A new thread has the rights of the thread that made it.
  void revoke_from_this_thread() const noexcept;
  /// The same for all devices.
  static void revoke_all_from_this_thread() noexcept;

 private:
  friend class AccessScope;
  class GivenBack;
  Protection(int key, std::string device_name) : m_key(key), m_device_name(std::move(device_name)) {}
  int open() noexcept;
  void close(int rights_before) noexcept;
  void set_pages(int rights) noexcept;

  const int m_key;  // -1: pages
  const std::string m_device_name;
  std::mutex m_mutex;  // guards all below, by pages only
  int m_open = 0;
  std::map<char*, std::size_t> m_ranges;
};

/// The calling thread may touch the device's memory while one lives. Scopes nest.
class AccessScope {
 public:
  explicit AccessScope(Protection* protection) noexcept : m_protection(protection) {
    if (m_protection != nullptr) [[unlikely]]
      m_before = m_protection->open();
  }
  ~AccessScope() {
    if (m_protection != nullptr) [[unlikely]]
      m_protection->close(m_before);
  }
  AccessScope(const AccessScope&) = delete;
  AccessScope& operator=(const AccessScope&) = delete;

 private:
  Protection* m_protection;
  int m_before = 0;
};

}  // namespace gantry::host
