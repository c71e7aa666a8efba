// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/rpc/print_message.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace gantry::rpc {

/// One argument of a printf as the host received it.
struct PrintArgument {
  PrintTag tag{};
  std::uint64_t word = 0;       ///< the first 8 bytes of its value
  const char* value = nullptr;  ///< all of them, unaligned
  std::string_view text;        ///< a string's characters

  [[nodiscard]] bool is_integer() const { return tag <= PrintTag::unsigned64; }
  [[nodiscard]] bool is_string() const { return tag == PrintTag::string || tag == PrintTag::null_string; }
  /// Of an integer: what C makes of it as a variable argument (at least an int) that is read as signed, or unsigned. No
  /// bit beyond its own width counts.
  [[nodiscard]] std::int64_t as_signed() const;
  [[nodiscard]] std::uint64_t as_unsigned() const;
  /// Of a float64.
  [[nodiscard]] double as_double() const;
  /// Of a float80. Encodings that the processor knows as invalid are NaNs.
  [[nodiscard]] long double as_long_double() const;
};

/// Reads a message that may hold anything: once open has accepted it, nothing reads outside of it.
class PrintArguments {
 public:
  /// False where a tag is unknown, or the parts that the message names do not fit into it.
  [[nodiscard]] bool open(std::span<const char> message);

  [[nodiscard]] std::string_view format() const { return m_format; }
  /// The next argument, in order; false when there are none left.
  [[nodiscard]] bool next(PrintArgument& argument);

 private:
  std::string_view m_format;
  const char* m_tag = nullptr;
  const char* m_last_tag = nullptr;
  const char* m_value = nullptr;
  const char* m_text = nullptr;
};

inline std::int64_t PrintArgument::as_signed() const {
  switch (tag) {
    case PrintTag::signed8: return static_cast<std::int8_t>(word);
    case PrintTag::signed16: return static_cast<std::int16_t>(word);
    case PrintTag::unsigned8: return static_cast<std::uint8_t>(word);
    case PrintTag::unsigned16: return static_cast<std::uint16_t>(word);
    case PrintTag::signed32:
    case PrintTag::unsigned32: return static_cast<std::int32_t>(word);
    default: return static_cast<std::int64_t>(word);
  }
}

inline std::uint64_t PrintArgument::as_unsigned() const {
  if (tag == PrintTag::signed64 || tag == PrintTag::unsigned64) return word;
  return static_cast<std::uint32_t>(as_signed());
}

inline bool PrintArguments::next(PrintArgument& argument) {
  if (m_tag == m_last_tag) return false;
  argument.tag = static_cast<PrintTag>(*m_tag++);
  argument.value = m_value;
  std::memcpy(&argument.word, m_value, sizeof(argument.word));
  m_value += print_value_bytes(argument.tag);
  if (argument.is_string()) {
    argument.text = {m_text, argument.word};
    m_text += argument.word;
  }
  return true;
}

}  // namespace gantry::rpc
