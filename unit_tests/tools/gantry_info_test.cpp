// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <unit_tests/support/run_program.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <string>

namespace gantry::test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;

Outcome info(const std::string& arguments, const std::string& environment = "", const char* redirect = "2>/dev/null") {
  return run_program("env -u GANTRY_DEVICES " + environment + " " GANTRY_INFO " " + arguments + " " + redirect);
}
constexpr const char* errors_only = "2>&1 >/dev/null";

TEST(GantryInfoTest, ListsDevicesWithTheChoiceAndItsReason) {
  const Outcome outcome = info("");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.output,
              AllOf(HasSubstr("Default device: host because no GPU is a candidate, GANTRY_DEVICES unset"),
                    HasSubstr("state   closed"), HasSubstr("Backends\n  host: available")));
  EXPECT_EQ(info("").output, outcome.output) << "the same machine, the same text";
}

TEST(GantryInfoTest, JsonHoldsTheSame) {
  const Outcome outcome = info("--json", "GANTRY_HOST_DEVICES=2 GANTRY_DEVICES=1");
  EXPECT_EQ(outcome.status, 0);
  const json result = json::parse(outcome.output);
  EXPECT_EQ(result["default"]["id"], 0);
  ASSERT_EQ(result["devices"].size(), 2U);
  EXPECT_EQ(result["devices"][0]["name"], "host:1");
  EXPECT_EQ(result["devices"][0]["state"], "closed");
  EXPECT_EQ(result["devices"][1]["usable"], false);
  EXPECT_EQ(result["devices"][1]["reason"], "left out by GANTRY_DEVICES=1");
  EXPECT_EQ(result["backends"][0]["name"], "host");
}

TEST(GantryInfoTest, OpenOpensThem) {
  const Outcome outcome = info("--open --json", "GANTRY_HOST_DEVICES=2");
  EXPECT_EQ(outcome.status, 0);
  const json result = json::parse(outcome.output);
  for (const json& device : result["devices"]) EXPECT_EQ(device["state"], "ready");
}

TEST(GantryInfoTest, SettingsHaveTheirValues) {
  const Outcome outcome = info("--settings", "GANTRY_LEAKS=fail");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("GANTRY_LEAKS = 'fail'"), HasSubstr("GANTRY_DEVICES = not set")));
  const json result = json::parse(info("--settings --json", "GANTRY_LEAKS=fail").output);
  bool found = false;
  for (const json& setting : result["settings"]) {
    if (setting["name"] != "GANTRY_LEAKS") continue;
    found = true;
    EXPECT_EQ(setting["value"], "fail");
    EXPECT_EQ(setting["default"], "report");
  }
  EXPECT_TRUE(found);
}

TEST(GantryInfoTest, HelpAndVersion) {
  const Outcome help = info("--help");
  EXPECT_EQ(help.status, 0);
  EXPECT_THAT(help.output, AllOf(HasSubstr("--json"), HasSubstr("--open"), HasSubstr("Exit codes:")));
  const Outcome version = info("--version");
  EXPECT_EQ(version.status, 0);
  EXPECT_THAT(version.output, HasSubstr("gantry-info "));
}

TEST(GantryInfoTest, AWrongCommandLineIsStatus2) {
  for (const char* arguments : {"--jsn", "surplus", "--settings --open", "-x"}) {
    EXPECT_EQ(info(arguments).status, 2) << arguments;
    EXPECT_THAT(info(arguments, "", errors_only).output, HasSubstr("--help")) << arguments;
  }
}

TEST(GantryInfoTest, EveryBadSettingIsNamedAndIsStatus1) {
  struct Bad {
    const char* setting;
    const char* named;
  };
  for (const Bad& bad :
       {Bad{"GANTRY_DEVICES=99", "'99' is out of range"}, Bad{"GANTRY_DEVICES=", "it is empty"},
        Bad{"GANTRY_DEVICES='1;2'", "'1;2' is no device"}, Bad{"GANTRY_DEVICES=0,0", "'0' repeats"},
        Bad{"GANTRY_DEVICES=cuda:0", "'cuda:0' names no backend"},
        Bad{"GANTRY_REQUIRE=gpu", "built without a GPU backend"}, Bad{"GANTRY_REQUIRE=tpu", "tpu"},
        Bad{"GANTRY_HOST_DEVICES=0", "GANTRY_HOST_DEVICES"}, Bad{"GANTRY_NUM_THREADS=x", "GANTRY_NUM_THREADS"},
        Bad{"GANTRY_LEAKS=maybe", "maybe"}, Bad{"GANTRY_HOST_DEVICES=2 SLURM_LOCALID=x", "SLURM_LOCALID='x'"}}) {
    const Outcome outcome = info("", bad.setting, errors_only);
    EXPECT_EQ(outcome.status, 1) << bad.setting;
    EXPECT_THAT(outcome.output, HasSubstr(bad.named)) << bad.setting;
    EXPECT_THAT(info("", bad.setting).output, IsEmpty()) << "nothing on stdout: " << bad.setting;
  }
  const Outcome outcome = info("--json", "GANTRY_DEVICES=99");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(json::parse(outcome.output)["error"]["code"], "invalid_argument");
}

TEST(GantryInfoTest, OutputThatDoesNotArriveIsStatus1) {
  for (const char* arguments : {"", "--json", "--settings", "--settings --json", "--help", "--version"}) {
    // A process that may not write to files, and one without standard output.
    for (const char* redirect : {"2>&1 >gantry_info_output", "2>&1 >&-"}) {
      const Outcome outcome =
          run_program(std::string("trap '' XFSZ; ulimit -f 0; " GANTRY_INFO " ") + arguments + " " + redirect);
      EXPECT_EQ(outcome.status, 1) << arguments << redirect;
      EXPECT_THAT(outcome.output, MatchesRegex("gantry-info: cannot write to standard output: [^\n]*\n"))
          << arguments << redirect;
    }
  }
  std::remove("gantry_info_output");
}

TEST(GantryInfoTest, TextsCannotDriveATerminal) {
  const std::string evil = "\"$(printf 'a\\033[2J')\"";
  for (const Outcome& outcome :
       {info("", "GANTRY_LEAKS=" + evil, "2>&1"), info("--settings", "GANTRY_LEAKS=" + evil, "2>&1"),
        info(evil, "", "2>&1"), info("", "GANTRY_DEVICES=" + evil, "2>&1")}) {
    EXPECT_THAT(outcome.output, AllOf(HasSubstr("a\\x1b[2J"), Not(HasSubstr("\x1b"))));
  }
}

TEST(GantryInfoTest, ARankThatDoesNotDecideDoesNotMatter) {
  EXPECT_EQ(info("", "SLURM_LOCALID=x").status, 0);
  EXPECT_EQ(info("", "GANTRY_HOST_DEVICES=2 SLURM_LOCALID=").status, 0);
}

TEST(GantryInfoTest, SettingsAreListedWithWhatIsWrongWithThem) {
  const Outcome outcome = info("--settings", "GANTRY_LEAKS=maybe");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.output, HasSubstr("GANTRY_LEAKS = 'maybe'"));
  const Outcome as_json = info("--settings --json", "GANTRY_LEAKS=maybe");
  EXPECT_EQ(as_json.status, 1);
  const json result = json::parse(as_json.output);
  EXPECT_EQ(result["settings"].size(), json::parse(info("--settings --json").output)["settings"].size());
  EXPECT_EQ(result["error"]["code"], "invalid_argument");
  EXPECT_THAT(result["error"]["text"].get<std::string>(), HasSubstr("GANTRY_LEAKS='maybe'"));
}

TEST(GantryInfoTest, DevicesAreListedWithWhatFailedToOpen) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers reserve more address space than this test allows the program";
#endif
  // Room for the program, not for the stacks of its threads.
  const Outcome outcome = run_program("ulimit -Ss 8192; ulimit -Sv 1000000; GANTRY_NUM_THREADS=200 " GANTRY_INFO
                                      " --open --json 2>/dev/null");
  EXPECT_EQ(outcome.status, 1);
  const json result = json::parse(outcome.output);
  EXPECT_EQ(result["devices"].size(), 1U);
  EXPECT_EQ(result["error"]["code"], "driver_error");
  EXPECT_THAT(result["error"]["text"].get<std::string>(), HasSubstr("worker thread"));
}

}  // namespace
}  // namespace gantry::test
