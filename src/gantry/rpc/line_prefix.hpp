// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/core/handle.hpp>

#include <string>
#include <string_view>

namespace gantry::rpc {

/// Puts prefixes before the lines of one output. Thread safety: none.
class LinePrefix {
 public:
  /// Makes a device's text what is to be written: the prefix stands before each line. A line goes on only with text of
  /// its own device; another's ends it first. An empty prefix changes nothing.
  void apply(DeviceId device, std::string_view prefix, std::string& text) {
    if (text.empty()) return;
    if (!prefix.empty()) text = prefixed(m_inside_line && m_device == device, prefix, text);
    m_inside_line = text.back() != '\n';
    m_device = device;
  }

 private:
  [[nodiscard]] std::string prefixed(bool goes_on, std::string_view prefix, std::string_view text) const {
    std::string lines = m_inside_line && !goes_on ? "\n" : "";
    for (const char character : text) {
      if (!goes_on) lines += prefix;
      goes_on = character != '\n';
      lines += character;
    }
    return lines;
  }

  bool m_inside_line = false;
  DeviceId m_device = -1;  // that wrote last
};

}  // namespace gantry::rpc
