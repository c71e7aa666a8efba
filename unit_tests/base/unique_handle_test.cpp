// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/base/log.hpp>
#include <gantry/base/unique_handle.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace gantry {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Driver {
  std::vector<int*> closed;
  bool fails = false;
};

struct IntTraits {
  using Handle = int*;
  using Context = Driver*;
  static constexpr std::string_view name = "number";
  static Status close(Context driver, Handle handle) noexcept {
    driver->closed.push_back(handle);
    return driver->fails ? Status::error(Code::driver_error, "refused to close", 5) : Status();
  }
};
using IntHandle = UniqueHandle<IntTraits>;

static_assert(sizeof(IntHandle) == 2 * sizeof(void*));
static_assert(!std::is_copy_constructible_v<IntHandle> && std::is_nothrow_move_constructible_v<IntHandle>);

TEST(UniqueHandleTest, ClosesOnceAtTheEndOfItsScope) {
  Driver driver;
  int a = 0;
  {
    IntHandle first(&driver, &a);
    IntHandle second(std::move(first));
    EXPECT_FALSE(first);
    EXPECT_TRUE(second);
    EXPECT_EQ(second.get(), &a);
    EXPECT_THAT(driver.closed, IsEmpty());
  }
  EXPECT_THAT(driver.closed, ElementsAre(&a));
}

TEST(UniqueHandleTest, AssignmentClosesWhatWasHeld) {
  Driver driver;
  int a = 0;
  int b = 0;
  IntHandle handle(&driver, &a);
  handle = IntHandle(&driver, &b);
  EXPECT_THAT(driver.closed, ElementsAre(&a));
  IntHandle& same = handle;
  handle = std::move(same);
  EXPECT_EQ(handle.get(), &b);
}

TEST(UniqueHandleTest, ReleaseGivesTheHandleUp) {
  Driver driver;
  int a = 0;
  {
    IntHandle handle(&driver, &a);
    EXPECT_EQ(handle.release(), &a);
  }
  EXPECT_THAT(driver.closed, IsEmpty());
}

TEST(UniqueHandleTest, CloseReturnsTheErrorAndIsNotRepeated) {
  Driver driver{.closed = {}, .fails = true};
  int a = 0;
  const auto before = close_error_count();
  IntHandle handle(&driver, &a);
  EXPECT_EQ(handle.close().native(), 5);
  EXPECT_TRUE(handle.close().ok());
  EXPECT_EQ(driver.closed.size(), 1u);
  EXPECT_EQ(close_error_count(), before);
}

TEST(UniqueHandleTest, ErrorsOfTheDestructorAreLoggedAndCounted) {
  Driver driver{.closed = {}, .fails = true};
  int a = 0;
  const auto before = close_error_count();
  testing::internal::CaptureStderr();
  { const IntHandle handle(&driver, &a); }
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("closing number: driver_error: refused to close"));
  EXPECT_EQ(close_error_count(), before + 1);
}

}  // namespace
}  // namespace gantry
