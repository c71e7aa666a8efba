// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/base/printable.hpp>

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace gantry {
namespace {

using namespace std::string_view_literals;

TEST(PrintableTest, ControlCharactersAreWrittenOut) {
  EXPECT_EQ(printable("plain 'text' \\ \xc3\xa9"), "plain 'text' \\ \xc3\xa9");
  EXPECT_EQ(printable("a\nb\t\x1b[2J\x7f\0c"sv), "a\\x0ab\\x09\\x1b[2J\\x7f\\x00c");
  EXPECT_EQ(printable(printable("\x1b")), printable("\x1b"));
}

TEST(PrintableTest, AMessageKeepsItsLines) {
  EXPECT_EQ(printable_lines("one\ntwo\r\x1b[K"), "one\ntwo\\x0d\\x1b[K");
}

TEST(PrintableTest, QuotedTextIsCut) {
  EXPECT_EQ(in_quotes(""), "''");
  EXPECT_EQ(in_quotes("a\nb"), "'a\\x0ab'");
  EXPECT_EQ(in_quotes(std::string(201, 'x')), "'" + std::string(200, 'x') + "...'");
}

}  // namespace
}  // namespace gantry
