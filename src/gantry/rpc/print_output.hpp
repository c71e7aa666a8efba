// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/rpc/print_spec.hpp>

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

namespace gantry::rpc {

/// Appends text to a string in many small pieces. The string has all of it only after finish.
class PrintOutput {
 public:
  explicit PrintOutput(std::string& out) : m_out(out), m_first(out.size()) {}
  PrintOutput(const PrintOutput&) = delete;
  PrintOutput& operator=(const PrintOutput&) = delete;

  void put(std::string_view text) {
    if (text.size() > left()) {
      finish();
      m_out.append(text);
    } else if (!text.empty()) {
      std::memcpy(m_at, text.data(), text.size());
      m_at += text.size();
    }
  }
  void put(char c) {
    if (left() == 0) finish();
    *m_at++ = c;
  }
  void fill(char c, std::size_t count) {
    if (count > left()) {
      finish();
      m_out.append(count, c);
    } else if (count != 0) {
      std::memset(m_at, c, count);
      m_at += count;
    }
  }

  /// Text in the width of its conversion.
  void put_field(const PrintSpec& spec, std::string_view text) { put_number(spec, "", 0, text, false); }

  /// A number in the width of its conversion: its sign and prefix, `zeros` zeros that belong to it, its digits. With
  /// `zero_fill`, zeros fill the width where the conversion asks for it.
  void put_number(const PrintSpec& spec, std::string_view prefix, std::size_t zeros, std::string_view digits,
                  bool zero_fill) {
    const std::size_t size = prefix.size() + zeros + digits.size();
    const auto width = static_cast<std::size_t>(spec.width);
    std::size_t padding = 0;
    if (width > size) {
      padding = width - size;
      if (!spec.left) {
        if (spec.zero && zero_fill) {
          zeros += padding;
        } else {
          fill(' ', padding);
        }
        padding = 0;
      }
    }
    put(prefix);
    fill('0', zeros);
    put(digits);
    fill(' ', padding);
  }

  /// Characters put so far.
  [[nodiscard]] std::size_t size() const { return m_out.size() - m_first + static_cast<std::size_t>(m_at - m_buffer); }
  void finish() {
    m_out.append(m_buffer, static_cast<std::size_t>(m_at - m_buffer));
    m_at = m_buffer;
  }

 private:
  [[nodiscard]] std::size_t left() const { return static_cast<std::size_t>(m_buffer + sizeof(m_buffer) - m_at); }

  std::string& m_out;
  std::size_t m_first;
  char m_buffer[512];
  char* m_at = m_buffer;
};

}  // namespace gantry::rpc
