// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/core/handle.hpp>

#include <string>
#include <string_view>

namespace gantry::rpc {

/// Puts prefixes before the lines of one output. Thread safety: none.
class LinePrefix {
 public:
  /// What to write for a device's text: the prefix stands before each line. A line goes on only with text of its own
  /// device; another's ends it first. An empty prefix changes nothing.
  std::string apply(DeviceId device, std::string_view prefix, std::string_view text) {
    std::string lines;
    if (prefix.empty()) {
      lines = text;
      m_inside_line = text.empty() ? m_inside_line : text.back() != '\n';
    } else {
      if (m_inside_line && m_device != device) {
        lines += '\n';
        m_inside_line = false;
      }
      for (const char character : text) {
        if (!m_inside_line) lines += prefix;
        m_inside_line = character != '\n';
        lines += character;
      }
    }
    m_device = device;
    return lines;
  }

 private:
  bool m_inside_line = false;
  DeviceId m_device = -1;  // that wrote last
};

}  // namespace gantry::rpc
