// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/log.hpp>

#include <mutex>
#include <string>
#include <string_view>

namespace gantry::test {

/// Collects what is logged while it lives.
class LogCapture {
 public:
  LogCapture() {
    set_log_callback([](LogLevel, std::string_view text, void* self) { static_cast<LogCapture*>(self)->add(text); },
                     this);
  }
  ~LogCapture() { set_log_callback(nullptr, nullptr); }
  std::string text() {
    const std::lock_guard lock(m_mutex);
    return m_text;
  }

 private:
  void add(std::string_view text) {
    const std::lock_guard lock(m_mutex);
    m_text += std::string(text) + "\n";
  }
  std::mutex m_mutex;
  std::string m_text;
};

}  // namespace gantry::test
