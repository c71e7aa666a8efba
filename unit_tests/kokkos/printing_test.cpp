// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <unit_tests/support/run_program.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace {

using gantry::test::Outcome;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr int aborted = 128 + SIGABRT;

/// Standard output and error are together, through one pipe.
Outcome run(const std::string& name, const std::string& environment = "") {
  return gantry::test::run_program("env OMP_PROC_BIND=false " + environment + " " GANTRY_PRINTING_PROGRAM " " + name +
                                   " 2>&1");
}

/// How many of "line 0" to "line n-1" stand in `text` before `end`, each once and whole.
std::size_t whole_lines(std::string_view text, std::size_t n) {
  std::vector<bool> seen(n);
  std::size_t count = 0;
  while (text.starts_with("line ")) {
    const std::size_t end = text.find('\n');
    if (end == text.npos) break;
    const std::size_t number = std::stoul(std::string(text.substr(5, end - 5)));
    if (number >= n || seen[number]) break;
    seen[number] = true;
    ++count;
    text.remove_prefix(end + 1);
  }
  return count;
}

TEST(PrintingTest, AHeavyKernelsLineIsReadBeforeTheKernelEnds) {
  const Outcome ending = run("heavy_kernel_prints", "GANTRY_PROTECT=0");  // pages: launches wait for their kernels
  EXPECT_EQ(ending.status, 0) << ending.output;
}

TEST(PrintingTest, UnderStrictAsynchronyEveryKernelsLineIs) {
  const Outcome ending = run("kernel_prints", "GANTRY_PROTECT=0 GANTRY_ASYNC=strict");
  EXPECT_EQ(ending.status, 0) << ending.output;
}

TEST(PrintingTest, AMillionLinesComeBeforeTheTextOfAnAbort) {
  const Outcome ending = run("many_lines_then_abort", "GANTRY_NUM_THREADS=8");
  EXPECT_EQ(ending.status, aborted);
  EXPECT_EQ(whole_lines(ending.output, 1'000'000), 1'000'000U);
  const std::string_view end = std::string_view(ending.output).substr(ending.output.rfind("line 9"));
  EXPECT_THAT(std::string(end), HasSubstr("x marks the end"));
}

TEST(PrintingTest, AnAbortOfTheHostComesLastToo) {
  const Outcome ending = run("host_aborts_behind_a_kernel");
  EXPECT_EQ(ending.status, aborted);
  EXPECT_EQ(whole_lines(ending.output, 1000), 1000U);
  EXPECT_THAT(ending.output, HasSubstr("x marks the end"));
}

TEST(PrintingTest, AFailedAssertionNamesDeviceKernelThreadAndPlace) {
  const Outcome ending = run("kernel_aborts", "GANTRY_PROTECT=0");
  EXPECT_EQ(ending.status, 0) << ending.output;
  EXPECT_THAT(ending.output, AllOf(HasSubstr("host: abort in kernel "), HasSubstr("thread "),
                                   HasSubstr("assertion 'i != 77' failed at "), HasSubstr("printing_program.cpp:"),
                                   HasSubstr("the host got: ")));
}

TEST(PrintingTest, AFaultNamesKernelAndDevice) {
  const Outcome ending = run("kernel_faults");
  EXPECT_NE(ending.status, 0);
  EXPECT_THAT(ending.output, AllOf(HasSubstr("gantry: error: kernel '"), HasSubstr("' on host, thread "),
                                   HasSubstr("at 0x12345000: no memory that it may touch")));
}

TEST(PrintingTest, ASentSignalEndsTheProcessWithoutAFault) {
  const Outcome ending = run("kernel_sends_the_signal_of_a_fault");
  EXPECT_NE(ending.status, 0);
  EXPECT_THAT(ending.output, Not(HasSubstr("gantry: error: kernel '")));
}

TEST(PrintingTest, FinalizeFlushes) {
  const Outcome ending = run("prints_at_the_end");
  EXPECT_EQ(ending.status, 0);
  EXPECT_EQ(ending.output, "last words");
}

TEST(PrintingTest, LinesCanBeginWithTheirDevice) {
  const Outcome ending = run("prints_at_the_end", "GANTRY_PRINT_PREFIX=1 GANTRY_HOST_DEVICES=2 GANTRY_DEVICES=host:1");
  EXPECT_EQ(ending.status, 0);
  EXPECT_EQ(ending.output, "[host:1] last words");
}

TEST(PrintingTest, AFileThatCannotBeOpenedIsAnErrorOfInitialize) {
  const Outcome ending = run("prints_at_the_end", "GANTRY_PRINT=file:/no/such/folder/out.txt");
  EXPECT_NE(ending.status, 0);
  EXPECT_THAT(ending.output, HasSubstr("/no/such/folder/out.txt"));
}

TEST(PrintingTest, AFullStandardOutputLosesNothing) {
  const Outcome ending = gantry::test::run_program("env OMP_PROC_BIND=false " GANTRY_PRINTING_PROGRAM
                                                   " prints_at_the_end 2>&1 >/dev/full");
  EXPECT_THAT(ending.output, AllOf(HasSubstr("last words"), HasSubstr("No space left on device")));
}

TEST(PrintingTest, CpusThatTheProcessMayNotUseAreAnErrorForTheServer) {
  const Outcome ending = run("prints_at_the_end", "GANTRY_RPC_AFFINITY=4095");
  EXPECT_NE(ending.status, 0);
  EXPECT_THAT(ending.output, HasSubstr("GANTRY_RPC_AFFINITY='4095' is not valid: the process may use the CPUs"));
}

}  // namespace
