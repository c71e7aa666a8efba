// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/rpc/print_format.hpp>

#include "printed.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace gantry::rpc {
namespace {

class Fuzz {
 public:
  explicit Fuzz(unsigned seed) : m_random(seed) {}

  std::uint64_t word() { return m_random(); }
  std::uint64_t below(std::uint64_t end) { return m_random() % end; }
  template <class T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[below(values.size())];
  }

  /// Any integer: the extremes, small ones, all magnitudes.
  template <class T>
  T integer() {
    switch (below(4)) {
      case 0:
        return one_of({T{0}, T{1}, static_cast<T>(-1), std::numeric_limits<T>::min(), std::numeric_limits<T>::max()});
      case 1: return static_cast<T>(static_cast<std::int64_t>(below(200)) - 100);
      default: return static_cast<T>(word() >> below(64));
    }
  }

  template <class T>
  T floating() {
    using Limits = std::numeric_limits<T>;
    const T sign = below(2) == 0 ? 1 : -1;
    switch (below(7)) {
      case 0:
        return sign * one_of({T{0}, T{1}, T{0.5}, T{2.5}, T{1e6}, T{1e-5}, Limits::min(), Limits::max(),
                              Limits::denorm_min(), Limits::epsilon(), Limits::infinity(), Limits::quiet_NaN()});
      case 1: return sign * static_cast<T>(below(100000));
      case 2: return sign * static_cast<T>(below(100000)) / 1000;
      case 3: return sign * static_cast<T>(below(2000)) / 16;  // ties
      case 4: return sign * std::ldexp(static_cast<T>(word()), static_cast<int>(below(200)) - 100);
      case 5: return sign * std::ldexp(static_cast<T>(word()), Limits::min_exponent - 64 - static_cast<int>(below(64)));
      default: return std::bit_cast<double>(word());
    }
  }

  /// "%", flags, width, precision. `stars` are its arguments, width first.
  std::string begin(std::string_view flags, std::vector<int>& stars) {
    std::string spec = "%";
    for (const char flag : flags) {
      if (below(4) == 0) spec += flag;
    }
    number(spec, "", stars);
    number(spec, ".", stars);
    return spec;
  }

 private:
  void number(std::string& spec, const char* before, std::vector<int>& stars) {
    const int value = static_cast<int>(below(below(20) == 0 ? 700 : 24));
    switch (below(5)) {
      case 0: spec += before + std::to_string(value); break;
      case 1:
        spec += before + std::string("*");
        stars.push_back(below(3) == 0 ? -value : value);
        break;
      case 2: spec += before; break;
      default: break;
    }
  }

  std::mt19937_64 m_random;
};

/// Compares with the C library: `text` around the conversion, then the conversion's arguments.
template <class T>
void compare(const std::string& spec, const std::vector<int>& stars, T argument) {
  const std::string format = "a " + spec + " b%%";
  std::string mine;
  std::string theirs;
  if (stars.empty()) {
    mine = printed(format.c_str(), argument);
    theirs = by_libc(format.c_str(), argument);
  } else if (stars.size() == 1) {
    mine = printed(format.c_str(), stars[0], argument);
    theirs = by_libc(format.c_str(), stars[0], argument);
  } else {
    mine = printed(format.c_str(), stars[0], stars[1], argument);
    theirs = by_libc(format.c_str(), stars[0], stars[1], argument);
  }
  ASSERT_EQ(mine, theirs) << "format '" << format << "', " << stars.size() << " stars, the last "
                          << (stars.empty() ? 0 : stars.back()) << ", argument " << testing::PrintToString(argument);
}

template <class T>
void compare_integer(Fuzz& fuzz, const char* length) {
  std::vector<int> stars;
  const char conversion = fuzz.one_of({'d', 'i', 'u', 'o', 'x', 'X'});
  std::string spec = fuzz.begin("-+ #0'", stars);
  compare(spec + length + conversion, stars, fuzz.integer<T>());
}

void compare_any_integer(Fuzz& fuzz) {
  switch (fuzz.below(12)) {
    case 0: return compare_integer<signed char>(fuzz, "");
    case 1: return compare_integer<unsigned char>(fuzz, "");
    case 2: return compare_integer<short>(fuzz, fuzz.one_of({"", "h", "hh"}));
    case 3: return compare_integer<unsigned short>(fuzz, fuzz.one_of({"", "h", "hh"}));
    case 4: return compare_integer<int>(fuzz, fuzz.one_of({"h", "hh"}));
    case 5: return compare_integer<long>(fuzz, "l");
    case 6: return compare_integer<unsigned long>(fuzz, fuzz.one_of({"l", "z", "t"}));
    case 7: return compare_integer<long long>(fuzz, "ll");
    case 8: return compare_integer<std::intmax_t>(fuzz, fuzz.one_of({"j", "L"}));
    case 9: return compare_integer<unsigned>(fuzz, fuzz.one_of({"", "h", "hh"}));
    default: return compare_integer<int>(fuzz, "");
  }
}

void compare_floating(Fuzz& fuzz) {
  std::vector<int> stars;
  const std::string spec = fuzz.begin("-+ #0'", stars);
  const char conversion = fuzz.one_of({'a', 'A', 'e', 'E', 'f', 'F', 'g', 'G'});
  if (fuzz.below(4) == 0) {
    compare(spec + 'L' + conversion, stars, fuzz.floating<long double>());
  } else {
    compare(spec + fuzz.one_of({"", "l"}) + conversion, stars, fuzz.floating<double>());
  }
}

void compare_text(Fuzz& fuzz) {
  std::vector<int> stars;
  if (fuzz.below(3) == 0) return compare(fuzz.begin("-", stars) + 'c', stars, fuzz.integer<int>());
  if (fuzz.below(2) == 0) {
    const std::string spec = fuzz.begin("-+ 0#", stars) + 'p';
    return compare(spec, stars, reinterpret_cast<void*>(fuzz.below(5) == 0 ? 0 : fuzz.word() >> fuzz.below(64)));
  }
  const std::string text(fuzz.below(30), static_cast<char>('a' + fuzz.below(26)));
  const std::string spec = fuzz.begin("-", stars) + 's';
  compare(spec, stars, fuzz.below(5) == 0 ? nullptr : text.c_str());
}

TEST(PrintFormatTest, PrintsAsTheCLibrary) {
  Fuzz fuzz(1);
  for (int i = 0; i < 200000 && !testing::Test::HasFailure(); ++i) {
    switch (fuzz.below(4)) {
      case 0: compare_text(fuzz); break;
      case 1: compare_any_integer(fuzz); break;
      default: compare_floating(fuzz); break;
    }
  }
}

TEST(PrintFormatTest, SeveralConversionsAsTheCLibrary) {
  Fuzz fuzz(2);
  for (int i = 0; i < 5000; ++i) {
    const int a = fuzz.integer<int>();
    const double b = fuzz.floating<double>();
    const unsigned long c = fuzz.integer<unsigned long>();
    const std::string d(fuzz.below(600), 'x');
    const char* const format = "cell %d: %-12.4g|%s|%#lx %.3e\n";
    ASSERT_EQ(printed(format, a, b, d.c_str(), c, b), by_libc(format, a, b, d.c_str(), c, b));
  }
}

std::vector<std::vector<char>> messages() {
  return {packed("cell %d: residual %g after %d steps\n", 1, 2.5, 3),
          packed("%s and %-20s, %.3s%%", "one", "two", "three"),
          packed("%*.*Lf %La %#x %p %c", 12, 3, 1.25L, -7.5L, 255, static_cast<void*>(nullptr), 'x'),
          packed("%n%k%lc%5", 1, 2, 3),
          packed("%hhd%hu%lld%zu%s%5.2e%%", 1, 2, 3L, 4UL, static_cast<const char*>(nullptr), 5.0)};
}

std::size_t most_characters(const std::vector<char>& message) {
  return 8 * message.size() + (std::size_t{2} << 20);
}

TEST(PrintFormatTest, AnyBytesGiveText) {
  Fuzz fuzz(3);
  std::size_t damaged = 0;
  for (int i = 0; i < 50000; ++i) {
    std::vector<char> message(fuzz.below(100));
    for (char& c : message) c = static_cast<char>(fuzz.word());
    if (message.size() >= 8 && fuzz.below(2) == 0) {  // a header that may be true
      message[1] = message[2] = message[3] = message[5] = message[6] = message[7] = 0;
      message[4] = static_cast<char>(fuzz.below(4));
      message[0] = static_cast<char>(fuzz.below(message.size()));
      for (std::size_t tag = 8; tag < message.size() && tag < 12; ++tag)
        message[tag] = static_cast<char>(fuzz.below(14));
    }
    const std::string text = printed_message(message);
    ASSERT_LE(text.size(), most_characters(message));
    damaged += text == "%!(damaged message)" ? 1 : 0;
  }
  EXPECT_GT(damaged, 40000U);
}

TEST(PrintFormatTest, DamagedMessagesGiveText) {
  Fuzz fuzz(4);
  for (int i = 0; i < 50000; ++i) {
    for (std::vector<char> message : messages()) {
      for (std::uint64_t flips = fuzz.below(4) + 1; flips != 0; --flips) {
        message[fuzz.below(message.size())] ^= static_cast<char>(1U << fuzz.below(8));
      }
      if (fuzz.below(8) == 0) message.resize(fuzz.below(message.size() + 1));
      if (fuzz.below(8) == 0) message.resize(message.size() + fuzz.below(20));
      ASSERT_LE(printed_message(message).size(), most_characters(message));
    }
  }
}

TEST(PrintFormatTest, AnyFormatGivesText) {
  Fuzz fuzz(5);
  constexpr std::string_view characters = "%%%%%%*.-+ #0'123456789hljztLdiouxXcspaAeEfFgGnk,\n\x80";
  for (int i = 0; i < 100000; ++i) {
    std::string format;
    for (std::uint64_t length = fuzz.below(30); length != 0; --length)
      format += characters[fuzz.below(characters.size())];
    const auto message =
        packed(format.c_str(), fuzz.integer<int>(), fuzz.floating<double>(), "text", fuzz.integer<long>(),
               fuzz.floating<long double>(), &format, static_cast<const char*>(nullptr));
    ASSERT_LE(printed_message(message).size(), most_characters(message)) << format;
  }
}

}  // namespace
}  // namespace gantry::rpc
