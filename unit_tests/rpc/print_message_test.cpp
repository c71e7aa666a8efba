// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/rpc/print_message.hpp>

#include "printed.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace gantry::rpc {
namespace {

enum Unscoped : unsigned short { few = 7 };
enum class Scoped : std::int64_t { far = -9 };
enum class Flag : bool { on = true };
struct Incomplete;

static_assert(print_tag<bool> == PrintTag::signed32);
static_assert(print_tag<char> == PrintTag::signed8 && print_tag<signed char> == PrintTag::signed8);
static_assert(print_tag<unsigned char> == PrintTag::unsigned8);
static_assert(print_tag<short> == PrintTag::signed16 && print_tag<unsigned short> == PrintTag::unsigned16);
static_assert(print_tag<int> == PrintTag::signed32 && print_tag<unsigned> == PrintTag::unsigned32);
static_assert(print_tag<long> == PrintTag::signed64 && print_tag<unsigned long> == PrintTag::unsigned64);
static_assert(print_tag<long long> == PrintTag::signed64 && print_tag<unsigned long long> == PrintTag::unsigned64);
static_assert(print_tag<const volatile int&> == PrintTag::signed32);
static_assert(print_tag<Unscoped> == PrintTag::unsigned16 && print_tag<Scoped> == PrintTag::signed64);
static_assert(print_tag<Flag> == PrintTag::signed32);
static_assert(print_tag<float> == PrintTag::float64 && print_tag<double> == PrintTag::float64);
static_assert(print_tag<long double> == PrintTag::float80);
static_assert(print_tag<char*> == PrintTag::string && print_tag<const char*> == PrintTag::string);
static_assert(print_tag<char[5]> == PrintTag::string && print_tag<const unsigned char*> == PrintTag::string);
static_assert(print_tag<signed char*> == PrintTag::string && print_tag<const char* const> == PrintTag::string);
static_assert(print_tag<void*> == PrintTag::pointer && print_tag<const Incomplete*> == PrintTag::pointer);
static_assert(print_tag<int[3]> == PrintTag::pointer && print_tag<wchar_t*> == PrintTag::pointer);
static_assert(print_tag<void (*)(int)> == PrintTag::pointer && print_tag<void(int)> == PrintTag::pointer);
static_assert(print_tag<std::nullptr_t> == PrintTag::pointer);

template <class T>
std::string raw(T value) {
  std::string bytes(sizeof(value), '\0');
  std::memcpy(bytes.data(), &value, sizeof(value));
  return bytes;
}

std::string word(std::uint64_t value) {
  return raw(value);
}

std::string header(std::uint32_t format_bytes, const std::vector<PrintTag>& tags) {
  std::string bytes = raw(format_bytes) + raw(static_cast<std::uint32_t>(tags.size()));
  for (const PrintTag tag : tags) bytes += static_cast<char>(tag);
  return bytes;
}

template <class... Args>
std::string text(const char* format, const Args&... arguments) {
  const auto bytes = packed(format, arguments...);
  return {bytes.begin(), bytes.end()};
}

TEST(PrintMessageTest, FormatAlone) {
  EXPECT_EQ(text("now\n"), header(4, {}) + "now\n");
  EXPECT_EQ(text(""), header(0, {}));
  EXPECT_EQ(text(nullptr), header(0, {}));
}

TEST(PrintMessageTest, IntegersAreExtended) {
  EXPECT_EQ(text("%d", -2), header(2, {PrintTag::signed32}) + word(std::uint64_t(-2)) + "%d");
  EXPECT_EQ(text("%d", static_cast<signed char>(-3)), header(2, {PrintTag::signed8}) + word(std::uint64_t(-3)) + "%d");
  EXPECT_EQ(text("%u", 0xfffffffeU), header(2, {PrintTag::unsigned32}) + word(0xfffffffeU) + "%u");
  EXPECT_EQ(text("%d", true), header(2, {PrintTag::signed32}) + word(1) + "%d");
  EXPECT_EQ(text("%d", Scoped::far), header(2, {PrintTag::signed64}) + word(std::uint64_t(-9)) + "%d");
  EXPECT_EQ(text("%d", few), header(2, {PrintTag::unsigned16}) + word(7) + "%d");
  EXPECT_EQ(text("%d", Flag::on), header(2, {PrintTag::signed32}) + word(1) + "%d");
}

TEST(PrintMessageTest, FloatingPoint) {
  EXPECT_EQ(text("%g", 1.5F), header(2, {PrintTag::float64}) + raw(1.5) + "%g");
  const std::string message = text("%Lg", 1.5L);
  ASSERT_EQ(message.size(), print_header_bytes + 1 + 16 + 3);
  long double value = 0;
  std::memcpy(&value, message.data() + print_header_bytes + 1, sizeof(value));
  EXPECT_EQ(value, 1.5L);
  EXPECT_EQ(message, text("%Lg", 1.5L));  // no padding of the stack
}

TEST(PrintMessageTest, StringsFollowTheFormat) {
  char changeable[] = "one";
  const unsigned char bytes[] = {'t', 'w', 'o', '!', 0, 'x'};
  const char* const none = nullptr;
  EXPECT_EQ(
      text("%s%s%s%d%s", changeable, none, bytes, 5, ""),
      header(10, {PrintTag::string, PrintTag::null_string, PrintTag::string, PrintTag::signed32, PrintTag::string}) +
          word(3) + word(0) + word(4) + word(5) + word(0) + "%s%s%s%d%s" + "one" + "two!");
}

TEST(PrintMessageTest, Pointers) {
  const int object = 0;
  EXPECT_EQ(text("%p", &object), header(2, {PrintTag::pointer}) + raw(&object) + "%p");
  EXPECT_EQ(text("%p", nullptr), header(2, {PrintTag::pointer}) + word(0) + "%p");
  EXPECT_EQ(text("%p", &raw<int>), header(2, {PrintTag::pointer}) + raw(&raw<int>) + "%p");
}

TEST(PrintMessageTest, WritesWhereverItIsTold) {
  std::vector<char> bytes(200, '#');
  const PrintMessage message("%d %s %Lg %p", 1, "text", 2.5L, nullptr);
  message.write(bytes.data() + 1);
  EXPECT_EQ(printed_message({bytes.data() + 1, message.bytes()}), "1 text 2.5 (nil)");
  EXPECT_EQ(bytes[0], '#');
  EXPECT_EQ(bytes[1 + message.bytes()], '#');
}

}  // namespace
}  // namespace gantry::rpc
