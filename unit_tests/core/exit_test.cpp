// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/core/exit.hpp>
#include <unit_tests/support/run_program.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace gantry::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// How exit_program ends on one of its paths, with settings in its environment. `timeout` turns a hang into status 124.
Outcome run(const std::string& path, const std::string& environment = "") {
  return run_program(environment + " timeout 60 " GANTRY_EXIT_PROGRAM " " + path + " 2>&1");
}

TEST(ExitTest, ACleanProgramSaysNothing) {
  const Outcome outcome = run("clean", "GANTRY_LEAKS=fail");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.output, "");
}

TEST(ExitTest, ReturnWithoutCloseReportsWhatIsHeld) {
  const Outcome outcome = run("forgets");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.output,
              AllOf(HasSubstr("leak report: 1 object"), HasSubstr("'forgotten', 1000 bytes"), HasSubstr("last words")));
}

TEST(ExitTest, LeaksCanFailTheProcess) {
  for (const char* path : {"forgets", "forgets_and_closes", "forgets_and_quick_exits"}) {
    const Outcome outcome = run(path, "GANTRY_LEAKS=fail");
    EXPECT_EQ(outcome.status, leak_exit_status) << path;
    EXPECT_THAT(outcome.output, AllOf(HasSubstr("'forgotten'"), HasSubstr("last words"))) << path;
  }
}

TEST(ExitTest, AStatusOfTheProgramsOwnStays) {
  EXPECT_EQ(run("forgets_and_fails", "GANTRY_LEAKS=fail").status, 3);
}

TEST(ExitTest, LeaksOffIsSilent) {
  const Outcome outcome = run("forgets", "GANTRY_LEAKS=off");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.output, "last words");
}

TEST(ExitTest, StaticsFreeTheirMemoryOnAnOpenDevice) {
  const Outcome outcome = run("static_holder", "GANTRY_LEAKS=fail");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.output, "the device works in destructors\n");
}

TEST(ExitTest, StaticsMayOutliveTheDevice) {
  const Outcome outcome = run("static_holder_after_close");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.output, HasSubstr("leak report: 2 objects"));
}

TEST(ExitTest, AnExitFunctionFromBeforeFirstUseFindsItsDeviceAlive) {
  const Outcome outcome = run("atexit_close", "GANTRY_LEAKS=fail");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.output, "alive in the hook\n");
}

TEST(ExitTest, QuickExitEnds) {
  EXPECT_EQ(run("quick_exit_open").status, 0);
}

TEST(ExitTest, ExitInsideAKernelEnds) {
  EXPECT_EQ(run("exit_in_kernel").status, 3);
}

TEST(ExitTest, AKernelThatNeverEndsDoesNotKeepTheProcess) {
  const Outcome outcome = run("kernel_never_ends", "GANTRY_CLOSE_TIMEOUT=0");
  EXPECT_EQ(outcome.status, close_exit_status);
  EXPECT_THAT(outcome.output, HasSubstr("work still runs"));
}

TEST(ExitTest, AFailureThatNobodyWasToldFailsTheProcess) {
  // Where protection works by pages, launches wait for their work, and the launch is told.
  const Outcome outcome = run("kernel_fails", "GANTRY_PROTECT=0");
  EXPECT_EQ(outcome.status, close_exit_status);
  EXPECT_THAT(outcome.output, HasSubstr("kernel 'unwatched'"));
  EXPECT_EQ(run("kernel_fails_and_is_told", "GANTRY_PROTECT=0").status, 0);
}

TEST(ExitTest, APluginThatUsesDevicesMayBeUnloaded) {
  const Outcome outcome = run_program("GANTRY_LEAKS=fail timeout 60 " GANTRY_PLUGIN_PROGRAM " 2>&1");
  EXPECT_EQ(outcome.status, 0);
  const std::string freed = "freed as the plugin went\n";
  EXPECT_EQ(outcome.output, freed + freed + freed);
}

TEST(ExitTest, ThreadsThatStillCallDoNotCrashIt) {
  EXPECT_EQ(run("others_still_call", "GANTRY_LEAKS=off").status, 0);
}

TEST(ExitTest, AForkedChildFreesNothingOfItsParents) {
  // LeakSanitizer looks for leaks at the child's end too, and complains of threads that stayed with the parent.
  const Outcome outcome = run("forked_child", "GANTRY_LEAKS=fail ASAN_OPTIONS=detect_leaks=0");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.output, "");
}

}  // namespace
}  // namespace gantry::test
