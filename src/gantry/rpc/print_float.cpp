// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/rpc/print_float.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>
#include <type_traits>

namespace gantry::rpc {
namespace {

/// Precisions up to this one fit a local buffer, also after the 309 digits of the largest double.
constexpr int short_precision = 100;
constexpr std::size_t short_bytes = 512;

constexpr char lower(char conversion) {
  return static_cast<char>(conversion | 0x20);
}

bool is_upper(char conversion) {
  return conversion < 'a';
}

/// The digits that std::to_chars writes are those of printf in the C locale, by its definition.
std::string_view to_digits(char (&buffer)[short_bytes], const PrintSpec& spec, int precision, double magnitude) {
  const char conversion = lower(spec.conversion);
  const auto format = conversion == 'e'   ? std::chars_format::scientific
                      : conversion == 'f' ? std::chars_format::fixed
                                          : std::chars_format::general;
  char* const end = std::to_chars(buffer, buffer + short_bytes, magnitude, format, precision).ptr;
  if (is_upper(spec.conversion)) std::replace(buffer, end, 'e', 'E');
  return {buffer, static_cast<std::size_t>(end - buffer)};
}

/// The decimal point of the program's locale, of whatever length, becomes a '.'.
std::string_view with_point(char* text, std::size_t size) {
  const auto belongs = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '+' || c == '-';
  };
  char* const end = text + size;
  char* const point = std::find_if_not(text, end, belongs);
  if (point == end) return {text, size};
  char* const behind = std::find_if(point, end, belongs);
  *point = '.';
  return {text, static_cast<std::size_t>(std::move(behind, end, point + 1) - text)};
}

template <class Float>
int print_digits(char* to, std::size_t bytes, const PrintSpec& spec, Float magnitude) {
  char format[8];
  char* at = format;
  *at++ = '%';
  if (spec.alternate) *at++ = '#';
  *at++ = '.';
  *at++ = '*';
  if constexpr (std::is_same_v<Float, long double>) *at++ = 'L';
  *at++ = spec.conversion;
  *at = '\0';
  // A negative precision counts as none.
  return std::snprintf(to, bytes, format, static_cast<int>(spec.precision), magnitude);
}

template <class Float>
void print_any(PrintOutput& out, const PrintSpec& spec, Float number) {
  char prefix[3];
  std::size_t prefix_bytes = 0;
  if (std::signbit(number)) {
    prefix[prefix_bytes++] = '-';
  } else if (spec.plus || spec.space) {
    prefix[prefix_bytes++] = spec.plus ? '+' : ' ';
  }
  if (!std::isfinite(number)) {
    const char* const name =
        std::isnan(number) ? (is_upper(spec.conversion) ? "NAN" : "nan") : (is_upper(spec.conversion) ? "INF" : "inf");
    out.put_number(spec, {prefix, prefix_bytes}, 0, name, false);
    return;
  }

  const Float magnitude = std::abs(number);
  char buffer[short_bytes];
  std::string longer;
  std::string_view digits;
  if (std::is_same_v<Float, double> && !spec.alternate && lower(spec.conversion) != 'a' &&
      spec.precision <= short_precision) {
    digits = to_digits(buffer, spec, spec.precision < 0 ? 6 : static_cast<int>(spec.precision),
                       static_cast<double>(magnitude));
  } else {
    const int printed = print_digits(buffer, sizeof(buffer), spec, magnitude);
    const std::size_t bytes = printed < 0 ? 0 : static_cast<std::size_t>(printed);
    if (bytes < sizeof(buffer)) {
      digits = with_point(buffer, bytes);
    } else {
      longer.resize(bytes + 1);
      print_digits(longer.data(), longer.size(), spec, magnitude);
      digits = with_point(longer.data(), bytes);
    }
    if (lower(spec.conversion) == 'a' && digits.size() > 2) {
      prefix[prefix_bytes++] = digits[0];
      prefix[prefix_bytes++] = digits[1];
      digits.remove_prefix(2);
    }
  }
  out.put_number(spec, {prefix, prefix_bytes}, 0, digits, true);
}

}  // namespace

void print_float(PrintOutput& out, const PrintSpec& spec, double number) {
  print_any(out, spec, number);
}

void print_float(PrintOutput& out, const PrintSpec& spec, long double number) {
  print_any(out, spec, number);
}

}  // namespace gantry::rpc
