// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/rpc/print_format.hpp>
#include <gantry/rpc/print_message.hpp>

#include <cstdio>
#include <span>
#include <string>
#include <vector>

namespace gantry::rpc {

/// The message in a block of exactly its size, so that the address sanitizer sees each read behind it.
template <class... Args>
std::vector<char> packed(const char* format, const Args&... arguments) {
  const PrintMessage message(format, arguments...);
  std::vector<char> bytes(message.bytes());
  message.write(bytes.data());
  return bytes;
}

inline std::string printed_message(std::span<const char> message) {
  std::string out;
  format_print_message(out, message);
  return out;
}

template <class... Args>
std::string printed(const char* format, const Args&... arguments) {
  return printed_message(packed(format, arguments...));
}

/// What the C library prints. The format is what is tested: compilers cannot check it.
template <class... Args>
std::string by_libc(const char* format, const Args&... arguments) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-security"
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  std::string text(static_cast<std::size_t>(std::snprintf(nullptr, 0, format, arguments...)), '\0');
  std::snprintf(text.data(), text.size() + 1, format, arguments...);
#pragma GCC diagnostic pop
  return text;
}

}  // namespace gantry::rpc
