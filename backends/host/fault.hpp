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

  /// For the caller of a queue: ok; once the error itself; then `poisoned`, with the error's text.
  Status report() {
    if (!is_set()) [[likely]]
      return {};
    const std::lock_guard lock(m_mutex);
    if (!std::exchange(m_reported, true)) return m_error.clone();
    return Status::error(Code::poisoned, "an earlier error made the device unusable: " + m_error.text());
  }
  /// The error, not counted as reported.
  [[nodiscard]] Status peek() const {
    if (!is_set()) return {};
    const std::lock_guard lock(m_mutex);
    return m_error.clone();
  }

 private:
  mutable std::mutex m_mutex;  // guards m_error and m_reported
  Status m_error;
  bool m_reported = false;
  std::atomic<bool> m_set{false};
};

}  // namespace gantry::host
