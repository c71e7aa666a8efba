// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/base/log.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gantry {
namespace {

using ::testing::ElementsAre;

class LogTest : public testing::Test {
 protected:
  void TearDown() override {
    set_log_callback(nullptr, nullptr);
    set_log_level(LogLevel::warning);
  }
};

TEST_F(LogTest, LinesGoToStandardErrorWithPrefixAndLevel) {
  testing::internal::CaptureStderr();
  log(LogLevel::error, "no device");
  log(LogLevel::warning, "one\ntwo\n");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "gantry: error: no device\ngantry: warning: one\n  two\n");
}

TEST_F(LogTest, TextCannotDriveATerminal) {
  testing::internal::CaptureStderr();
  log(LogLevel::error, "a\x1b[2J\rb\nc");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "gantry: error: a\\x1b[2J\\x0db\n  c\n");
}

TEST_F(LogTest, BelowTheLevelNothingHappens) {
  testing::internal::CaptureStderr();
  log(LogLevel::info, "quiet");
  set_log_level(LogLevel::info);
  log(LogLevel::info, "heard");
  log(LogLevel::debug, "quiet");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "gantry: info: heard\n");
  EXPECT_TRUE(log_enabled(LogLevel::error));
  EXPECT_FALSE(log_enabled(LogLevel::debug));
}

TEST_F(LogTest, ACallbackTakesTheLines) {
  std::vector<std::string> lines;
  set_log_callback(
      [](LogLevel level, std::string_view text, void* user) {
        static_cast<std::vector<std::string>*>(user)->push_back(std::string(log_level_name(level)) + "|" +
                                                                std::string(text));
      },
      &lines);
  testing::internal::CaptureStderr();
  log(LogLevel::error, "a\nb");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_THAT(lines, ElementsAre("error|a\nb"));
}

}  // namespace
}  // namespace gantry
