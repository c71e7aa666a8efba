// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/base/printable.hpp>

#include <fmt/format.h>

#include <iterator>

namespace gantry {
namespace {

std::string escaped(std::string_view text, std::string_view kept) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 || byte == 0x7f) && kept.find(c) == kept.npos) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string printable(std::string_view text) {
  return escaped(text, "");
}

std::string printable_lines(std::string_view text) {
  return escaped(text, "\n");
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 200;
  return fmt::format("'{}{}'", printable(text.substr(0, longest)), text.size() > longest ? "..." : "");
}

}  // namespace gantry
