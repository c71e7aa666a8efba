// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/base/status.hpp>
#include <gantry/base/try.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

namespace gantry {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

TEST(StatusTest, IsOkAndOnePointerWide) {
  const Status status;
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.code(), Code::ok);
  EXPECT_EQ(status.text(), "");
  EXPECT_EQ(status.message(), "ok");
  EXPECT_EQ(status.count(), 0u);
  EXPECT_EQ(sizeof(Status), sizeof(void*));
}

TEST(StatusTest, MessageHasCodeTextNativeErrorAndPlace) {
  const Status status = Status::error(Code::driver_error, "cuInit failed", 100);
  EXPECT_EQ(status.code(), Code::driver_error);
  EXPECT_EQ(status.native(), 100);
  EXPECT_THAT(status.message(),
              ContainsRegex("^driver_error: cuInit failed \\(native error 100\\) \\[status_test.cpp:[0-9]+\\]$"));
}

TEST(StatusTest, AMessageCannotDriveATerminal) {
  EXPECT_THAT(Status::error(Code::busy, "held:\n  '\x1b[2J'").message(), HasSubstr("busy: held:\n  '\\x1b[2J' ["));
}

TEST(StatusTest, PlaceIsThatOfTheCaller) {
  const int line = __LINE__ + 1;
  const Status status = Status::error(Code::internal, "here");
  EXPECT_THAT(status.message(), HasSubstr("status_test.cpp:" + std::to_string(line)));
}

TEST(StatusTest, ContextGoesBeforeTheText) {
  EXPECT_EQ(Status::error(Code::busy, "in use").with_context("closing host:1").text(), "closing host:1: in use");
  EXPECT_TRUE(Status().with_context("nothing").ok());
}

TEST(StatusTest, JoinKeepsTheFirstErrorFirstAndAllOthers) {
  Status status;
  status.join(Status());
  EXPECT_TRUE(status.ok());
  status.join(Status::error(Code::busy, "first"));
  status.join(Status());
  Status two = Status::error(Code::timeout, "second");
  two.join(Status::error(Code::internal, "third"));
  status.join(std::move(two));
  EXPECT_EQ(status.code(), Code::busy);
  EXPECT_EQ(status.count(), 3u);
  EXPECT_THAT(status.message(), ContainsRegex("first.*\n  and timeout: second.*\n  and internal: third"));
}

TEST(StatusTest, CloneIsIndependent) {
  Status status = Status::error(Code::busy, "first", 7);
  status.join(Status::error(Code::timeout, "second"));
  const Status copy = status.clone();
  EXPECT_EQ(copy.message(), status.message());
  status = Status();
  EXPECT_EQ(copy.count(), 2u);
  EXPECT_EQ(copy.native(), 7);
}

TEST(StatusTest, EveryCodeHasItsOwnName) {
  std::vector<std::string_view> names;
  for (int code = 0; code <= static_cast<int>(Code::internal); ++code)
    names.push_back(code_name(static_cast<Code>(code)));
  EXPECT_EQ(names.front(), "ok");
  EXPECT_EQ(names.back(), "internal");
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
  EXPECT_EQ(code_name(static_cast<Code>(200)), "unknown");
}

TEST(StatusTest, LongChainsOfErrorsAreDestroyedWithoutRecursion) {
  Status status;
  for (int i = 0; i < 300000; ++i) {
    Status next = Status::error(Code::busy, "");
    next.join(std::move(status));
    status = std::move(next);
  }
  EXPECT_EQ(status.count(), 300000u);
}

TEST(StatusTest, ErrorsOfOneCodeCanBeDropped) {
  Status status = Status::error(Code::unavailable, "gone");
  status.join(Status::error(Code::busy, "in use"));
  status.join(Status::error(Code::unavailable, "gone too"));
  status = std::move(status).without(Code::unavailable);
  EXPECT_EQ(status.count(), 1u);
  EXPECT_EQ(status.text(), "in use");
  EXPECT_TRUE(Status::error(Code::unavailable, "gone").without(Code::unavailable).ok());
  EXPECT_TRUE(Status().without(Code::busy).ok());
}

TEST(StatusTest, MayBeMovedToItself) {
  Status status = Status::error(Code::busy, "in use");
  status = std::move(status).with_context("closing");
  EXPECT_EQ(status.text(), "closing: in use");
}

// A range-for over the value of a temporary would dangle if it were a reference.
static_assert(std::is_same_v<decltype(std::declval<Result<std::string>>().value()), std::string>);
static_assert(std::is_same_v<decltype(*std::declval<Result<std::string>>()), std::string>);

TEST(ResultTest, HoldsAValueOrAnError) {
  Result<std::unique_ptr<int>> good(std::make_unique<int>(3));
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(**good, 3);
  const std::unique_ptr<int> taken = *std::move(good);
  EXPECT_EQ(*taken, 3);

  Result<int> bad(Status::error(Code::not_found, "no such device"));
  EXPECT_FALSE(bad.ok());
  EXPECT_EQ(bad.status().text(), "no such device");
  EXPECT_EQ(std::move(bad).status().code(), Code::not_found);
  EXPECT_TRUE(Result<int>(1).status().ok());
}

TEST(ResultTest, MadeOfAnOkStatusIsAnInternalError) {
  const Result<int> result{Status()};
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), Code::internal);
}

Result<int> half(int x) {
  if (x % 2 != 0) return Status::error(Code::invalid_argument, "odd");
  return x / 2;
}
Result<int> quarter(int x) {
  GANTRY_TRY_ASSIGN(const int h, half(x));
  GANTRY_TRY_ASSIGN(const int q, half(h));
  return q;
}
Status check(int x) {
  GANTRY_TRY(half(x).status());
  return Status::error(Code::busy, "reached");
}

TEST(TryTest, ReturnsTheErrorOrGoesOnWithTheValue) {
  EXPECT_EQ(*quarter(12), 3);
  EXPECT_EQ(quarter(6).status().text(), "odd");
  EXPECT_EQ(check(1).text(), "odd");
  EXPECT_EQ(check(2).text(), "reached");
}

}  // namespace
}  // namespace gantry
