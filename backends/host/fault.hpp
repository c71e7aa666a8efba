// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/status.hpp>

#include <atomic>
#include <mutex>
#include <string>

namespace gantry::host {

/// The first error of code that ran on the device: from then on the device runs nothing any more.
/// Thread safety: all functions, any thread.
class Fault {
 public:
  /// Keeps the first error; later ones are its consequences.
  void set(Status error) {
    const std::lock_guard lock(m_mutex);
    if (m_set.load(std::memory_order_relaxed)) return;
    m_error = std::move(error);
    m_set.store(true, std::memory_order_release);
  }
  [[nodiscard]] bool is_set() const noexcept { return m_set.load(std::memory_order_acquire); }

  /// The error, or ok.
  [[nodiscard]] Status error() const {
    if (!is_set()) [[likely]]
      return {};
    const std::lock_guard lock(m_mutex);
    return m_error.clone();
  }

 private:
  mutable std::mutex m_mutex;  // guards m_error
  Status m_error;
  std::atomic<bool> m_set{false};
};

}  // namespace gantry::host
