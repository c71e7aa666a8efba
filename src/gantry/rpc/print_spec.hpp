// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gantry::rpc {

/// One conversion of a printf format: what stands after a '%'.
struct PrintSpec {
  /// The length modifiers that change what is printed; the others leave it as it is.
  enum class Length : std::uint8_t { none, hh, h, l, other };
  static constexpr std::int64_t largest_number = INT64_MAX;

  bool left = false;       ///< -
  bool plus = false;       ///< +
  bool space = false;      ///< a space
  bool alternate = false;  ///< #
  bool zero = false;       ///< 0
  bool star_width = false;
  bool star_precision = false;
  Length length = Length::none;
  bool bare = false;            ///< the conversion stands alone, as in %d
  char conversion = 0;          ///< 0: there is none, the format ended or goes on with what cannot be one
  std::int64_t width = 0;       ///< written digits past largest_number count as largest_number
  std::int64_t precision = -1;  ///< -1: none

  /// Reads the conversion that begins at `at`, after its '%', and moves `at` behind it. Any text will do.
  [[nodiscard]] static PrintSpec parse(std::string_view format, std::size_t& at);

 private:
  void parse_flags(std::string_view format, std::size_t& at);
  void parse_length(std::string_view format, std::size_t& at);
};

namespace impl {

inline bool stands_alone(char c) {
  return c == 'd' || c == 'g' || c == 's' || c == 'f' || c == 'e' || c == 'u' || c == 'i' || c == 'x';
}

inline bool take(std::string_view format, std::size_t& at, char wanted) {
  if (at == format.size() || format[at] != wanted) return false;
  ++at;
  return true;
}

inline std::int64_t take_number(std::string_view format, std::size_t& at) {
  std::int64_t number = 0;
  for (; at != format.size() && format[at] >= '0' && format[at] <= '9'; ++at) {
    const int digit = format[at] - '0';
    number = number > (PrintSpec::largest_number - digit) / 10 ? PrintSpec::largest_number : number * 10 + digit;
  }
  return number;
}

}  // namespace impl

inline void PrintSpec::parse_flags(std::string_view format, std::size_t& at) {
  for (; at != format.size(); ++at) {
    switch (format[at]) {
      case '-': left = true; break;
      case '+': plus = true; break;
      case ' ': space = true; break;
      case '#': alternate = true; break;
      case '0': zero = true; break;
      case '\'': break;  // groups digits: the C locale has no groups
      default: return;
    }
  }
}

inline void PrintSpec::parse_length(std::string_view format, std::size_t& at) {
  using impl::take;
  if (take(format, at, 'h')) {
    length = take(format, at, 'h') ? Length::hh : Length::h;
  } else if (take(format, at, 'l')) {
    length = take(format, at, 'l') ? Length::other : Length::l;
  } else if (take(format, at, 'j') || take(format, at, 'z') || take(format, at, 't') || take(format, at, 'L')) {
    length = Length::other;
  }
}

inline PrintSpec PrintSpec::parse(std::string_view format, std::size_t& at) {
  using impl::take;
  PrintSpec spec;
  if (at != format.size() && impl::stands_alone(format[at])) {
    spec.conversion = format[at++];
    spec.bare = true;
    return spec;
  }
  spec.parse_flags(format, at);
  spec.star_width = take(format, at, '*');
  if (!spec.star_width) spec.width = impl::take_number(format, at);
  if (take(format, at, '.')) {
    spec.star_precision = take(format, at, '*');
    if (!spec.star_precision) spec.precision = impl::take_number(format, at);
  }
  spec.parse_length(format, at);
  // A control character or a byte of UTF-8 stays in the text.
  if (at != format.size() && format[at] > ' ' && format[at] < 0x7f) spec.conversion = format[at++];
  return spec;
}

}  // namespace gantry::rpc
