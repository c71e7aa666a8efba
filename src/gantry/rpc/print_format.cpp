// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/rpc/print_format.hpp>

#include <gantry/rpc/print_arguments.hpp>
#include <gantry/rpc/print_float.hpp>
#include <gantry/rpc/print_output.hpp>
#include <gantry/rpc/print_spec.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace gantry::rpc {
namespace {

/// What a conversion of the largest width and precision adds stays far below it.
constexpr std::size_t spare_bytes = std::size_t{1} << 20;
constexpr std::size_t described_characters = 60;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

const char* integer_name(PrintTag tag) {
  switch (tag) {
    case PrintTag::signed8: return "signed char";
    case PrintTag::signed16: return "short";
    case PrintTag::signed32: return "int";
    case PrintTag::signed64: return "long";
    case PrintTag::unsigned8: return "unsigned char";
    case PrintTag::unsigned16: return "unsigned short";
    case PrintTag::unsigned32: return "unsigned int";
    default: return "unsigned long";
  }
}

constexpr std::size_t most_digits = 22;  // 64 bits in octal

/// `shift` bits a digit.
std::string_view power_digits(char (&buffer)[most_digits], std::uint64_t number, int shift, bool upper) {
  const char* const symbols = upper ? "0123456789ABCDEF" : "0123456789abcdef";
  const std::uint64_t mask = (1U << shift) - 1;
  char* const end = buffer + most_digits;
  char* first = end;
  do {
    *--first = symbols[number & mask];
    number >>= shift;
  } while (number != 0);
  return {first, static_cast<std::size_t>(end - first)};
}

class PrintFormatter {
 public:
  PrintFormatter(PrintOutput& out, PrintArguments& arguments) : m_out(out), m_arguments(arguments) {}

  void run(std::size_t most_bytes);

 private:
  using Length = PrintSpec::Length;

  void convert(PrintSpec& spec);
  bool take_sizes(PrintSpec& spec);
  bool take_star(PrintSpec& spec, const char* what, std::int64_t& number, bool usable);
  bool within(const PrintSpec& spec, const char* what, std::int64_t number);

  void put(const PrintSpec& spec, const PrintArgument& argument);
  void put_signed(const PrintSpec& spec, std::int64_t number);
  void put_unsigned(const PrintSpec& spec, std::uint64_t number);
  void put_integer(const PrintSpec& spec, std::string_view prefix, std::size_t zeros, std::string_view digits);
  void put_string(const PrintSpec& spec, const PrintArgument& argument);
  void put_pointer(const PrintSpec& spec, std::uint64_t address);

  template <class... Pieces>
  void error(const PrintSpec& spec, const Pieces&... pieces);
  void put_piece(std::string_view text) { m_out.put(text); }
  void put_piece(std::int64_t number);
  void put_piece(const PrintArgument& argument);

  PrintOutput& m_out;
  PrintArguments& m_arguments;
};

void PrintFormatter::run(std::size_t most_bytes) {
  const std::string_view format = m_arguments.format();
  for (std::size_t at = 0;;) {
    const std::size_t percent = std::min(format.find('%', at), format.size());
    m_out.put(format.substr(at, percent - at));
    if (percent == format.size()) return;
    if (m_out.size() > most_bytes) return m_out.put("%!(too long)");
    at = percent + 1;
    PrintSpec spec = PrintSpec::parse(format, at);
    convert(spec);
  }
}

void PrintFormatter::convert(PrintSpec& spec) {
  const bool usable = spec.bare || take_sizes(spec);
  PrintArgument argument;
  const bool there = is_letter(spec.conversion) && m_arguments.next(argument);
  if (!usable) return;
  switch (spec.conversion) {
    case 0: return error(spec, "incomplete");
    case '%': return m_out.put('%');
    case 'n': return error(spec, "refused");
    case 'c':
    case 's':
      if (spec.length == Length::l) return error(spec, "wide");
      break;
    case 'd':
    case 'i':
    case 'u':
    case 'o':
    case 'x':
    case 'X':
    case 'p':
    case 'a':
    case 'A':
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G': break;
    default: return error(spec, "unknown");
  }
  if (!there) return error(spec, "missing");
  put(spec, argument);
}

/// Puts the first error; all arguments of stars are consumed.
bool PrintFormatter::take_sizes(PrintSpec& spec) {
  bool usable = true;
  if (spec.star_width) {
    usable = take_star(spec, "width ", spec.width, usable);
    if (spec.width < 0) {
      spec.left = true;
      spec.width = spec.width == INT64_MIN ? INT64_MAX : -spec.width;
    }
  }
  if (spec.star_precision) {
    usable = take_star(spec, "precision ", spec.precision, usable);
    spec.precision = std::max<std::int64_t>(spec.precision, -1);
  }
  return usable && within(spec, "width ", spec.width) && within(spec, "precision ", spec.precision);
}

bool PrintFormatter::take_star(PrintSpec& spec, const char* what, std::int64_t& number, bool usable) {
  PrintArgument argument;
  const bool there = m_arguments.next(argument);
  if (!usable) return false;
  if (!there) {
    error(spec, "missing");
  } else if (!argument.is_integer()) {
    error(spec, what, argument);
  } else {
    number = argument.as_signed();
    return true;
  }
  return false;
}

bool PrintFormatter::within(const PrintSpec& spec, const char* what, std::int64_t number) {
  if (number <= largest_print_width) return true;
  error(spec, what, number);
  return false;
}

void PrintFormatter::put(const PrintSpec& spec, const PrintArgument& argument) {
  switch (spec.conversion) {
    case 'd':
    case 'i':
      if (argument.is_integer()) return put_signed(spec, argument.as_signed());
      break;
    case 'u':
    case 'o':
    case 'x':
    case 'X':
      if (argument.is_integer()) return put_unsigned(spec, argument.as_unsigned());
      break;
    case 'c':
      if (argument.is_integer()) {
        const char c = static_cast<char>(argument.word);
        return m_out.put_field(spec, {&c, 1});
      }
      break;
    case 's':
      if (argument.is_string()) return put_string(spec, argument);
      break;
    case 'p':
      if (argument.tag == PrintTag::pointer) return put_pointer(spec, argument.word);
      break;
    default:
      if (argument.tag == PrintTag::float64) return print_float(m_out, spec, argument.as_double());
      if (argument.tag == PrintTag::float80) return print_float(m_out, spec, argument.as_long_double());
      break;
  }
  error(spec, argument);
}

void PrintFormatter::put_signed(const PrintSpec& spec, std::int64_t number) {
  if (spec.bare) {
    const fmt::format_int digits(number);
    return m_out.put({digits.data(), digits.size()});
  }
  if (spec.length == Length::hh) number = static_cast<signed char>(number);
  if (spec.length == Length::h) number = static_cast<short>(number);
  const fmt::format_int digits(number < 0 ? 0 - static_cast<std::uint64_t>(number)
                                          : static_cast<std::uint64_t>(number));
  put_integer(spec, number < 0 ? "-" : spec.plus ? "+" : spec.space ? " " : "", 0, {digits.data(), digits.size()});
}

void PrintFormatter::put_unsigned(const PrintSpec& spec, std::uint64_t number) {
  if (spec.length == Length::hh) number = static_cast<unsigned char>(number);
  if (spec.length == Length::h) number = static_cast<unsigned short>(number);
  if (spec.conversion == 'u') {
    const fmt::format_int digits(number);
    return put_integer(spec, "", 0, {digits.data(), digits.size()});
  }
  char buffer[most_digits];
  const bool octal = spec.conversion == 'o';
  const std::string_view digits = power_digits(buffer, number, octal ? 3 : 4, spec.conversion == 'X');
  const bool prefixed = spec.alternate && !octal && number != 0;
  put_integer(spec, !prefixed ? "" : spec.conversion == 'X' ? "0X" : "0x", spec.alternate && octal ? 1 : 0, digits);
}

/// `zeros`: how many the number begins with at least.
void PrintFormatter::put_integer(const PrintSpec& spec, std::string_view prefix, std::size_t zeros,
                                 std::string_view digits) {
  if (digits == "0" && (spec.precision == 0 || zeros != 0)) digits = "";
  const std::size_t precision =
      spec.precision < 0 ? (digits.empty() ? zeros : 0) : static_cast<std::size_t>(spec.precision);
  if (precision > digits.size()) zeros = std::max(zeros, precision - digits.size());
  m_out.put_number(spec, prefix, zeros, digits, spec.precision < 0);
}

void PrintFormatter::put_string(const PrintSpec& spec, const PrintArgument& argument) {
  constexpr std::string_view null = "(null)";
  std::string_view text = argument.text;
  if (spec.precision >= 0) text = text.substr(0, static_cast<std::size_t>(spec.precision));
  if (argument.tag == PrintTag::null_string && (spec.precision < 0 || spec.precision >= std::ssize(null))) text = null;
  m_out.put_field(spec, text);
}

void PrintFormatter::put_pointer(const PrintSpec& spec, std::uint64_t address) {
  if (address == 0) return m_out.put_field(spec, "(nil)");
  char buffer[most_digits];
  put_integer(spec, spec.plus ? "+0x" : spec.space ? " 0x" : "0x", 0, power_digits(buffer, address, 4, false));
}

template <class... Pieces>
void PrintFormatter::error(const PrintSpec& spec, const Pieces&... pieces) {
  m_out.put("%!");
  if (spec.conversion != 0) m_out.put(spec.conversion);
  m_out.put('(');
  (put_piece(pieces), ...);
  m_out.put(')');
}

void PrintFormatter::put_piece(std::int64_t number) {
  const fmt::format_int digits(number);
  m_out.put({digits.data(), digits.size()});
}

/// An argument with its type.
void PrintFormatter::put_piece(const PrintArgument& argument) {
  PrintSpec plain;
  if (argument.is_integer()) {
    m_out.put(integer_name(argument.tag));
    m_out.put(' ');
    plain.conversion = argument.tag <= PrintTag::signed64 ? 'd' : 'u';
    return put(plain, argument);
  }
  switch (argument.tag) {
    case PrintTag::float64: return m_out.put(fmt::format("double {}", argument.as_double()));
    case PrintTag::float80:
      m_out.put("long double ");
      plain.conversion = 'g';
      return put(plain, argument);
    case PrintTag::pointer: m_out.put("pointer "); return put_pointer(plain, argument.word);
    case PrintTag::null_string: return m_out.put("string (null)");
    default:
      m_out.put("string \"");
      m_out.put(argument.text.substr(0, described_characters));
      m_out.put(argument.text.size() > described_characters ? "...\"" : "\"");
  }
}

}  // namespace

void format_print_message(std::string& out, std::span<const char> message) {
  PrintArguments arguments;
  if (!arguments.open(message)) {
    out += "%!(damaged message)";
    return;
  }
  PrintOutput text(out);
  PrintFormatter(text, arguments).run(7 * message.size() + spare_bytes);
  text.finish();
}

}  // namespace gantry::rpc
