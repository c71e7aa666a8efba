// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/rpc/print_format.hpp>

#include "printed.hpp"

#include <gtest/gtest.h>

#include <clocale>
#include <climits>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace gantry::rpc {
namespace {

void* address(std::uintptr_t value) {
  return reinterpret_cast<void*>(value);
}

TEST(PrintFormatTest, TextGoesThrough) {
  EXPECT_EQ(printed("cell %d: residual %g after %d steps\n", 7, 3.25e-7, 12),
            "cell 7: residual 3.25e-07 after 12 steps\n");
  EXPECT_EQ(printed(""), "");
  EXPECT_EQ(printed("100%%"), "100%");
  EXPECT_EQ(printed("%5%|%-05%"), "%|%");
  EXPECT_EQ(printed("\xc3\xa9\x01"), "\xc3\xa9\x01");
}

TEST(PrintFormatTest, Appends) {
  std::string out = "before ";
  format_print_message(out, packed("%d", 1));
  format_print_message(out, {});
  EXPECT_EQ(out, "before 1%!(damaged message)");
}

TEST(PrintFormatTest, IntegersAtTheirOwnWidth) {
  EXPECT_EQ(printed("%d %ld %i", INT_MIN, LONG_MIN, LONG_MAX), "-2147483648 -9223372036854775808 9223372036854775807");
  EXPECT_EQ(printed("%u %u", -1, -1L), "4294967295 18446744073709551615");
  EXPECT_EQ(printed("%d %lx", ULONG_MAX, -1), "-1 ffffffff");
  EXPECT_EQ(printed("%d %d", 4000000000U, 0xffffffffU), "-294967296 -1");
  for (const char* length : {"", "l", "ll", "j", "z", "t", "L"}) {
    EXPECT_EQ(printed((std::string("%") + length + "u").c_str(), -2), "4294967294") << length;
    EXPECT_EQ(printed((std::string("%") + length + "d").c_str(), -2L), "-2") << length;
    EXPECT_EQ(printed((std::string("%") + length + "X").c_str(), 0xabcdef0123456789), "ABCDEF0123456789") << length;
  }
}

TEST(PrintFormatTest, SmallIntegersAreInts) {
  EXPECT_EQ(printed("%d %u %x", static_cast<unsigned char>(200), static_cast<unsigned short>(65535),
                    static_cast<unsigned char>(255)),
            "200 65535 ff");
  EXPECT_EQ(printed("%d %u %x", static_cast<signed char>(-1), static_cast<short>(-1), static_cast<signed char>(-1)),
            "-1 4294967295 ffffffff");
  EXPECT_EQ(printed("%d %d", true, 'A'), "1 65");
}

TEST(PrintFormatTest, HalfLengthsTruncate) {
  EXPECT_EQ(printed("%hhd %hhu %hd %hu", 200, -1, 70000, -1), "-56 255 4464 65535");
  EXPECT_EQ(printed("%hhx %hx %ho", 0x1234, 0x123456789L, -1), "34 6789 177777");
}

TEST(PrintFormatTest, FlagsWidthAndPrecision) {
  EXPECT_EQ(printed("[%5d|%-5d|%05d|%+d|% d|%+5d|%-+5d|% 05d]", 42, 42, 42, 42, 42, 42, 42, 42),
            "[   42|42   |00042|+42| 42|  +42|+42  | 0042]");
  EXPECT_EQ(printed("[%+ d|% +d|%-05d|%0-5d]", 1, 1, 1, 1), "[+1|+1|1    |1    ]");
  EXPECT_EQ(printed("[%.3d|%5.3d|%05.3d|%-6.3d|%.0d|%+.0d|%.d]", 7, 7, 7, -7, 0, 0, 0), "[007|  007|  007|-007  ||+|]");
  EXPECT_EQ(printed("[%#x|%#X|%#o|%#x|%#o|%#.0o|%#.0x]", 255, 255, 8, 0, 0, 0, 0), "[0xff|0XFF|010|0|0|0|]");
  EXPECT_EQ(printed("[%#08x|%#8x|%#-8x|%#.4x|%#.3o|%#06o]", 255, 255, 255, 255, 8, 8),
            "[0x0000ff|    0xff|0xff    |0x00ff|010|000010]");
  EXPECT_EQ(printed("%'d", 1234567), "1234567");
  EXPECT_EQ(printed("%u %+u % u", 1, 2, 3), "1 2 3");
}

TEST(PrintFormatTest, Stars) {
  EXPECT_EQ(printed("[%*d|%*d|%-*d]", 5, 42, -5, 42, -5, 42), "[   42|42   |42   ]");
  EXPECT_EQ(printed("[%.*f|%.*f|%*.*f]", 2, 3.14159, -1, 3.14159, 8, 3, 3.14159), "[3.14|3.141590|   3.142]");
  EXPECT_EQ(printed("[%.*s|%.*s|%.*d]", 2, "text", -2, "text", -3, 5), "[te|text|5]");
  EXPECT_EQ(printed("[%*d|%*d]", static_cast<unsigned char>(3), 1, 3L, 1), "[  1|  1]");
  EXPECT_EQ(printed("%d %*%|", 1, 2, 3), "1 %|");
  EXPECT_EQ(printed("%*d %d", 2.5, 1, 2), "%!d(width double 2.5) 2");
  EXPECT_EQ(printed("%.*d %d", "x", 1, 2), "%!d(precision string \"x\") 2");
  EXPECT_EQ(printed("%*.*d %d", 2.5, 3, 1, 2), "%!d(width double 2.5) 2");
  EXPECT_EQ(printed("%*d"), "%!d(missing)");
  EXPECT_EQ(printed("%*.*d", 1), "%!d(missing)");
  EXPECT_EQ(printed("%*d", 1), "%!d(missing)");
  EXPECT_EQ(printed("%*", 1), "%!(incomplete)");
}

TEST(PrintFormatTest, CharactersAndStrings) {
  EXPECT_EQ(printed("%c%c%c%3c|%-3c|", 'a', 98, 99UL, 'd', 'e'), "abc  d|e  |");
  EXPECT_EQ(printed("%c", 0x141), "A");
  EXPECT_EQ(printed("%c", '\0'), std::string(1, '\0'));
  EXPECT_EQ(printed("[%s|%6s|%-6s|%.2s|%6.2s|%.0s|%.9s]", "text", "text", "text", "text", "text", "text", "text"),
            "[text|  text|text  |te|    te||text]");
  EXPECT_EQ(printed("%s,%s", "%d", ""), "%d,");
}

TEST(PrintFormatTest, NullStrings) {
  const char* const none = nullptr;
  EXPECT_EQ(printed("[%s|%8s|%.6s|%.5s|%3.5s|%-8s]", none, none, none, none, none, none),
            "[(null)|  (null)|(null)||   |(null)  ]");
}

TEST(PrintFormatTest, Pointers) {
  EXPECT_EQ(printed("%p %p %p", address(0x1234abcd), nullptr, address(0)), "0x1234abcd (nil) (nil)");
  EXPECT_EQ(printed("[%10p|%-10p|%10p|%.1p]", address(0x1f), address(0x1f), nullptr, nullptr),
            "[      0x1f|0x1f      |     (nil)|(nil)]");
  EXPECT_EQ(printed("%p", "text"), "%!p(string \"text\")");
  EXPECT_EQ(printed("%p", static_cast<const char*>(nullptr)), "%!p(string (null))");
}

TEST(PrintFormatTest, FloatingPoint) {
  EXPECT_EQ(printed("%f %e %g %F %E %G", 1.5, 1.5, 1.5, 1.5, 1.5, 1e-10),
            "1.500000 1.500000e+00 1.5 1.500000 1.500000E+00 1E-10");
  EXPECT_EQ(printed("%a %A", 1.5, 255.5), "0x1.8p+0 0X1.FFP+7");
  EXPECT_EQ(printed("[%8.2f|%-8.2f|%08.2f|%+.1f|% .1f|%#.0f|%#g]", -1.5, 1.5, -1.5, 1.5, 1.5, 2.0, 2.0),
            "[   -1.50|1.50    |-0001.50|+1.5| 1.5|2.|2.00000]");
  EXPECT_EQ(printed("[%015a|%+a|%-9a|%.1a|%#.0a]", -1.5, 1.0, 1.0, 1.9375, 1.0),
            "[-0x0000001.8p+0|+0x1p+0|0x1p+0   |0x1.fp+0|0x1.p+0]");
  EXPECT_EQ(printed("%.0f %.0f %.0f %g", 0.5, 1.5, 2.5, 1.0F), "0 2 2 1");
  EXPECT_EQ(printed("%f", 1e308), by_libc("%f", 1e308));
  EXPECT_EQ(printed("%.1000f", 1e308), by_libc("%.1000f", 1e308));
}

TEST(PrintFormatTest, LengthDoesNotMatterToFloatingPoint) {
  EXPECT_EQ(printed("%Lf %lf %Lg", 1.5, 1.5, 0.1), "1.500000 1.500000 0.1");
  EXPECT_EQ(printed("%f %Lf %.25g", 1.5L, 1.5L, 0.1L), "1.500000 1.500000 0.1000000000000000000013553");
}

TEST(PrintFormatTest, InfinitiesAndNaNs) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(printed("[%f|%F|%08e|%-6g|%+a|%.1f]", infinity, -infinity, infinity, -infinity, infinity, infinity),
            "[inf|-INF|     inf|-inf  |+inf|inf]");
  EXPECT_EQ(printed("%f %G %f %Lf", nan, nan, -nan, -std::numeric_limits<long double>::infinity()),
            "nan NAN -nan -inf");
}

TEST(PrintFormatTest, InvalidLongDoublesAreNaNs) {
  auto message = packed("%Lf", 1.5L);
  message[print_header_bytes + 1 + 7] &= 0x7f;  // the leading bit of the fraction
  EXPECT_EQ(printed_message(message), "nan");
  message[print_header_bytes + 1 + 9] |= static_cast<char>(0x80);  // the sign
  EXPECT_EQ(printed_message(message), "nan");
}

TEST(PrintFormatTest, TheLocaleDoesNotMatter) {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  int tried = 0;
  for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8", "ps_AF.UTF-8"}) {
    if (std::setlocale(LC_ALL, name) == nullptr) continue;
    ++tried;
    EXPECT_EQ(printed("%.1f %'.1Lf %#.1f %a", 1234.5, 1234.5L, 1234.5, 1.5), "1234.5 1234.5 1234.5 0x1.8p+0") << name;
  }
  std::setlocale(LC_ALL, before.c_str());
  if (tried == 0) GTEST_SKIP() << "no locale with another decimal point is installed";
}

TEST(PrintFormatTest, ArgumentsThatDoNotFit) {
  EXPECT_EQ(printed("%d!%s", 3.5, "next"), "%!d(double 3.5)!next");
  EXPECT_EQ(printed("%f %5.1f", 3, 4), "%!f(int 3) %!f(int 4)");
  EXPECT_EQ(printed("%s %c", 3, "x"), "%!s(int 3) %!c(string \"x\")");
  EXPECT_EQ(printed("%s %x %g", address(16), nullptr, address(16)),
            "%!s(pointer 0x10) %!x(pointer (nil)) %!g(pointer 0x10)");
  EXPECT_EQ(printed("%d %d", 2.5L, static_cast<const char*>(nullptr)), "%!d(long double 2.5) %!d(string (null))");
  EXPECT_EQ(printed("%p", 16), "%!p(int 16)");
  EXPECT_EQ(printed("%d", std::string(61, 'x').c_str()), "%!d(string \"" + std::string(60, 'x') + "...\")");
}

TEST(PrintFormatTest, TypesAreNamed) {
  EXPECT_EQ(printed("%s%s%s%s", static_cast<signed char>(-1), static_cast<short>(-1), -1, -1L),
            "%!s(signed char -1)%!s(short -1)%!s(int -1)%!s(long -1)");
  EXPECT_EQ(
      printed("%s%s%s%s", static_cast<unsigned char>(255), static_cast<unsigned short>(65535), UINT_MAX, ULONG_MAX),
      "%!s(unsigned char 255)%!s(unsigned short 65535)%!s(unsigned int 4294967295)"
      "%!s(unsigned long 18446744073709551615)");
}

TEST(PrintFormatTest, MissingAndExtraArguments) {
  EXPECT_EQ(printed("%d %d %s", 1), "1 %!d(missing) %!s(missing)");
  EXPECT_EQ(printed("%d", 1, 2, "three"), "1");
}

TEST(PrintFormatTest, Refused) {
  int count = 0;
  EXPECT_EQ(printed("%n %hhn %d", &count, &count, 5), "%!n(refused) %!n(refused) 5");
  EXPECT_EQ(printed("%n"), "%!n(refused)");
  EXPECT_EQ(printed("%lc %ls %d", L'x', L"text", 5), "%!c(wide) %!s(wide) 5");
  EXPECT_EQ(printed("%llc %hs", 'x', "text"), "x text");
}

TEST(PrintFormatTest, UnknownConversions) {
  EXPECT_EQ(printed("%k %d", 5, 6), "%!k(unknown) 6");
  EXPECT_EQ(printed("50%, %d", 6), "50%!,(unknown) 6");
  EXPECT_EQ(printed("%2$d", 5, 6), "%!$(unknown)d");
  EXPECT_EQ(printed("%hhh %hld", 5, 6), "%!h(unknown) %!l(unknown)d");
  EXPECT_EQ(printed("%.-3d", 5), "%!-(unknown)3d");
}

TEST(PrintFormatTest, IncompleteConversions) {
  for (const char* format : {"%", "%-", "%5", "%5.", "%5.3", "%hh", "%l", "%*", "%.*"}) {
    EXPECT_EQ(printed(format, 1), "%!(incomplete)") << format;
  }
  EXPECT_EQ(printed("100%\nnext %d", 1), "100%!(incomplete)\nnext 1");
  EXPECT_EQ(printed("%5\xc3\xa9"), "%!(incomplete)\xc3\xa9");
}

TEST(PrintFormatTest, SizesHaveALimit) {
  EXPECT_EQ(printed("%65536d", 1), std::string(65535, ' ') + "1");
  EXPECT_EQ(printed("%.65536d", 1), std::string(65535, '0') + "1");
  EXPECT_EQ(printed("%65537d %d", 1, 2), "%!d(width 65537) 2");
  EXPECT_EQ(printed("%.65537f %d", 1.5, 2), "%!f(precision 65537) 2");
  EXPECT_EQ(printed("%99999999d", 1), "%!d(width 99999999)");
  EXPECT_EQ(printed("%99999999999999999999999999d", 1), "%!d(width 9223372036854775807)");
  EXPECT_EQ(printed("%9223372036854775807d", 1), "%!d(width 9223372036854775807)");
  EXPECT_EQ(printed("%*d %*d", INT_MIN, 1, LONG_MIN, 2), "%!d(width 2147483648) %!d(width 9223372036854775807)");
  EXPECT_EQ(printed("%.*d %.*a", LONG_MIN, 1, LONG_MIN, 1.5), "1 0x1.8p+0");
}

TEST(PrintFormatTest, TheTextHasALimit) {
  std::string format;
  for (int i = 0; i < 1000; ++i) format += "%*s";
  std::vector<char> message = packed(format.c_str());
  const std::uint32_t arguments = 2000;
  std::memcpy(message.data() + sizeof(std::uint32_t), &arguments, sizeof(arguments));
  std::string middle;
  for (int i = 0; i < 1000; ++i) middle += {static_cast<char>(PrintTag::signed32), static_cast<char>(PrintTag::string)};
  const std::uint64_t values[2] = {65536, 0};
  for (int i = 0; i < 1000; ++i) middle.append(reinterpret_cast<const char*>(values), sizeof(values));
  message.insert(message.begin() + print_header_bytes, middle.begin(), middle.end());
  const std::string text = printed_message(message);
  EXPECT_LE(text.size(), 8 * message.size() + (std::size_t{2} << 20));
  EXPECT_TRUE(text.ends_with(" %!(too long)"));
}

TEST(PrintFormatTest, NoLessThanTheMessage) {
  const auto message = packed("%s %d %Lg %s", "one", 2, 3.0L, "four");
  EXPECT_EQ(printed_message(message), "one 2 3 four");
  for (std::size_t size = 0; size < message.size(); ++size) {
    const std::vector<char> truncated(message.begin(), message.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_EQ(printed_message(truncated), "%!(damaged message)") << size;
  }
  auto longer = message;
  longer.push_back('x');  // padding
  EXPECT_EQ(printed_message(longer), "one 2 3 four");
}

TEST(PrintFormatTest, DamagedMessages) {
  const auto damaged = [](std::size_t at, std::uint64_t value, std::size_t bytes) {
    auto message = packed("%s %d", "one", 2);
    std::memcpy(message.data() + at, &value, bytes);
    return printed_message(message);
  };
  EXPECT_EQ(damaged(0, 5, 4), "one 2");
  for (const std::uint64_t size : {6ULL, 0xffffffffULL}) {
    EXPECT_EQ(damaged(0, size, 4), "%!(damaged message)") << size;
    EXPECT_EQ(damaged(4, size, 4), "%!(damaged message)") << size;
  }
  for (const std::uint64_t length : {std::uint64_t{4}, UINT64_MAX, UINT64_MAX - 20, UINT64_MAX / 2}) {
    EXPECT_EQ(damaged(print_header_bytes + 2, length, 8), "%!(damaged message)") << length;
  }
  for (const int tag : {0, 14, 128, 255, static_cast<int>(PrintTag::null_string)}) {
    EXPECT_EQ(damaged(print_header_bytes, static_cast<std::uint64_t>(tag), 1), "%!(damaged message)") << tag;
  }
}

TEST(PrintFormatTest, LengthsThatOverflow) {
  auto message = packed("%s %s", "one", "four");
  const std::uint64_t lengths[2] = {UINT64_MAX, 8};  // their sum is right
  std::memcpy(message.data() + print_header_bytes + 2, lengths, sizeof(lengths));
  EXPECT_EQ(printed_message(message), "%!(damaged message)");
}

TEST(PrintFormatTest, OnlyAnArgumentsOwnBitsCount) {
  auto message = packed("%d %u %x", 1, static_cast<unsigned char>(2), static_cast<short>(3));
  for (int argument = 0; argument < 3; ++argument) message[print_header_bytes + 3 + 8 * argument + 7] = 0x55;
  EXPECT_EQ(printed_message(message), "1 2 3");
}

}  // namespace
}  // namespace gantry::rpc
