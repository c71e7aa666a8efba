// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/base/settings.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace gantry {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Parsed {
  Result<Settings> result;
  std::vector<std::string> warnings;
};

Parsed parse(const std::vector<std::string>& variables) {
  std::vector<const char*> environment;
  for (const std::string& variable : variables) environment.push_back(variable.c_str());
  std::vector<std::string> warnings;
  auto result = Settings::parse(environment, warnings);
  return {std::move(result), std::move(warnings)};
}

TEST(SettingsTest, DefaultsWithoutVariables) {
  const auto parsed = parse({"PATH=/bin", "GANTRYX=1", "NOT_GANTRY_LOG=x"});
  ASSERT_TRUE(parsed.result.ok());
  EXPECT_THAT(parsed.warnings, IsEmpty());
  EXPECT_FALSE(parsed.result.value().devices.has_value());
  EXPECT_EQ(parsed.result.value().num_threads, 0);
}

TEST(SettingsTest, ReadsEveryVariable) {
  const auto parsed = parse({"GANTRY_ASYNC=strict", "GANTRY_BIND=none", "GANTRY_CLOSE_TIMEOUT=3",
                             "GANTRY_DEVICES=host,cuda:1", "GANTRY_HOST_DEVICES=4", "GANTRY_LAUNCH_BLOCKING=1",
                             "GANTRY_LEAKS=fail", "GANTRY_LEAKS_FILE=/tmp/leaks.json", "GANTRY_LOG=debug",
                             "GANTRY_NUM_THREADS=7", "GANTRY_PROTECT=pages", "GANTRY_REQUIRE=gpu", "GANTRY_SPIN_US=0"});
  ASSERT_TRUE(parsed.result.ok()) << parsed.result.status().message();
  EXPECT_THAT(parsed.warnings, IsEmpty());
  const Settings& s = parsed.result.value();
  EXPECT_EQ(s.async, Async::strict);
  EXPECT_EQ(s.bind, Bind::none);
  EXPECT_EQ(s.close_timeout, std::chrono::seconds(3));
  EXPECT_EQ(s.devices, "host,cuda:1");
  EXPECT_EQ(s.host_partition, HostPartition::count);
  EXPECT_EQ(s.host_devices, 4);
  EXPECT_TRUE(s.launch_blocking);
  EXPECT_EQ(s.leaks, Leaks::fail);
  EXPECT_EQ(s.leaks_file, "/tmp/leaks.json");
  EXPECT_EQ(s.log, LogLevel::debug);
  EXPECT_EQ(s.num_threads, 7);
  EXPECT_EQ(s.protect, Protect::pages);
  EXPECT_EQ(s.require, Require::gpu);
  EXPECT_EQ(s.spin, std::chrono::microseconds(0));
}

TEST(SettingsTest, TheTableIsWhatIsRead) {
  for (const Setting& setting : settings_table()) {
    const auto parsed = parse({std::string(setting.name) + "=" + std::string(setting.default_value)});
    EXPECT_THAT(parsed.warnings, IsEmpty()) << setting.name;
    EXPECT_TRUE(parsed.result.ok() || setting.default_value.empty()) << setting.name;
    EXPECT_FALSE(setting.values.empty());
    EXPECT_FALSE(setting.meaning.empty());
  }
  EXPECT_TRUE(std::ranges::is_sorted(settings_table(), {}, &Setting::name));
}

TEST(SettingsTest, WrittenDefaultsAreTheDefaults) {
  std::vector<std::string> all;
  for (const Setting& setting : settings_table()) {
    if (!setting.default_value.empty()) {
      all.push_back(std::string(setting.name) + "=" + std::string(setting.default_value));
    }
  }
  const auto parsed = parse(all);
  ASSERT_TRUE(parsed.result.ok());
  const Settings& s = parsed.result.value();
  const Settings none;
  EXPECT_EQ(s.async, none.async);
  EXPECT_EQ(s.bind, none.bind);
  EXPECT_EQ(s.close_timeout, none.close_timeout);
  EXPECT_EQ(s.host_devices, none.host_devices);
  EXPECT_EQ(s.host_partition, none.host_partition);
  EXPECT_EQ(s.launch_blocking, none.launch_blocking);
  EXPECT_EQ(s.leaks, none.leaks);
  EXPECT_EQ(s.log, none.log);
  EXPECT_EQ(s.protect, none.protect);
  EXPECT_EQ(s.spin, none.spin);
}

TEST(SettingsTest, SetButEmptyDevicesDifferFromUnset) {
  const auto parsed = parse({"GANTRY_DEVICES="});
  ASSERT_TRUE(parsed.result.ok());
  EXPECT_EQ(parsed.result.value().devices, "");
}

TEST(SettingsTest, PartitionsTheHost) {
  EXPECT_EQ(parse({"GANTRY_HOST_DEVICES=numa"}).result.value().host_partition, HostPartition::numa);
  EXPECT_EQ(parse({"GANTRY_HOST_DEVICES=package"}).result.value().host_partition, HostPartition::package);
}

class BadSettingTest : public testing::TestWithParam<const char*> {};

TEST_P(BadSettingTest, IsAnErrorThatNamesVariableTextAndValidValues) {
  const std::string variable = GetParam();
  const auto parsed = parse({variable});
  ASSERT_FALSE(parsed.result.ok());
  EXPECT_EQ(parsed.result.status().code(), Code::invalid_argument);
  const std::string name = variable.substr(0, variable.find('='));
  const std::string text = variable.substr(variable.find('=') + 1);
  const auto* row = std::ranges::find(settings_table(), name, &Setting::name).base();
  EXPECT_THAT(parsed.result.status().text(),
              AllOf(HasSubstr(name + "='" + text + "'"), HasSubstr(std::string(row->values))));
}

INSTANTIATE_TEST_SUITE_P(
    Texts, BadSettingTest,
    testing::Values("GANTRY_ASYNC=", "GANTRY_ASYNC=Strict", "GANTRY_BIND=cores", "GANTRY_CLOSE_TIMEOUT=-1",
                    "GANTRY_CLOSE_TIMEOUT=1.5", "GANTRY_CLOSE_TIMEOUT=99999999999999999999", "GANTRY_HOST_DEVICES=0",
                    "GANTRY_HOST_DEVICES=257", "GANTRY_HOST_DEVICES=2x", "GANTRY_HOST_DEVICES= 2",
                    "GANTRY_LAUNCH_BLOCKING=2", "GANTRY_LEAKS=none", "GANTRY_LEAKS_FILE=", "GANTRY_LOG=verbose",
                    "GANTRY_NUM_THREADS=0", "GANTRY_NUM_THREADS=4294967297", "GANTRY_NUM_THREADS=+4",
                    "GANTRY_PROTECT=page", "GANTRY_REQUIRE=cuda", "GANTRY_SPIN_US=1000001", "GANTRY_SPIN_US=0x10"));

TEST(SettingsTest, TextsCannotBreakLinesOrDriveATerminal) {
  const auto parsed = parse({"GANTRY_LOG=a\n\x1b[2J", "GANTRY_\x1b[2J=1"});
  EXPECT_THAT(parsed.result.status().text(), HasSubstr("GANTRY_LOG='a\\x0a\\x1b[2J' is not valid"));
  ASSERT_EQ(parsed.warnings.size(), 1U);
  EXPECT_THAT(parsed.warnings[0], HasSubstr("variable GANTRY_\\x1b[2J; did you mean"));
}

TEST(SettingsTest, ASwitchHasTheLimitsOfItsVariable) {
  EXPECT_TRUE(check_switch("--threads", "65536", "GANTRY_NUM_THREADS").ok());
  const Status status = check_switch("--threads", "65537", "GANTRY_NUM_THREADS");
  EXPECT_EQ(status.code(), Code::invalid_argument);
  EXPECT_EQ(status.text(), "--threads='65537' is not valid: a number from 1 to 65536");
}

TEST(SettingsTest, AllErrorsAreJoined) {
  const auto parsed = parse({"GANTRY_LOG=loud", "GANTRY_SPIN_US=5", "GANTRY_LEAKS=maybe"});
  ASSERT_FALSE(parsed.result.ok());
  EXPECT_EQ(parsed.result.status().count(), 2u);
  EXPECT_THAT(parsed.result.status().message(),
              AllOf(HasSubstr("GANTRY_LOG='loud'"), HasSubstr("GANTRY_LEAKS='maybe'")));
}

TEST(SettingsTest, UnknownVariablesAreWarnedAboutWithTheNearestName) {
  const auto parsed = parse({"GANTRY_DEVICE=host", "GANTRY_LEAK_FILE=x"});
  ASSERT_TRUE(parsed.result.ok());
  EXPECT_THAT(parsed.warnings,
              ElementsAre("unknown environment variable GANTRY_DEVICE; did you mean GANTRY_DEVICES?",
                          "unknown environment variable GANTRY_LEAK_FILE; did you mean GANTRY_LEAKS_FILE?"));
}

TEST(SettingsTest, RandomTextsAreAcceptedOrRefusedAndStayShort) {
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    const auto table = settings_table();
    std::string variable(table[random() % table.size()].name);
    if (random() % 8 == 0) variable += static_cast<char>(1 + random() % 255);
    if (random() % 16 != 0) variable += '=';
    static constexpr std::string_view alphabet = "0123456789-+.,:; numapackgeofst\x01\xff%{}";
    for (std::size_t length = random() % (i % 100 == 0 ? 5000 : 12); length > 0; --length) {
      variable += alphabet[random() % alphabet.size()];
    }
    const auto parsed = parse({variable});
    if (!parsed.result.ok()) {
      EXPECT_LT(parsed.result.status().text().size(), 600u);
    }
  }
}

TEST(SettingsTest, TheProcessHasOneSettingsObject) {
  ASSERT_NE(settings(), nullptr) << settings_status().message();
  EXPECT_EQ(settings(), settings());
  EXPECT_TRUE(settings_status().ok());
}

}  // namespace
}  // namespace gantry
