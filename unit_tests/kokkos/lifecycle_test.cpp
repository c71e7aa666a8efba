// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <unit_tests/support/run_program.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <string>
#include <utility>
#include <vector>

namespace {

using gantry::test::Outcome;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using Strings = std::vector<std::string>;

constexpr int aborted = 128 + SIGABRT;

/// Runs the program; standard output and error are together.
Outcome run(const std::string& name, const Strings& environment = {}, const Strings& arguments = {}) {
  std::string command = "env OMP_PROC_BIND=false";
  for (const std::string& variable : environment) command += " '" + variable + "'";
  command += " " GANTRY_LIFECYCLE_PROGRAM " " + name;
  for (const std::string& argument : arguments) command += " '" + argument + "'";
  return gantry::test::run_program(command + " 2>&1");
}

const std::string two_devices = "GANTRY_HOST_DEVICES=2";
const std::string launches_return =
    "GANTRY_PROTECT=0";  // where protection works by pages, launches wait for their work

TEST(LifecycleTest, CleanProgramIsSilent) {
  const Outcome ending = run("nothing");
  EXPECT_EQ(ending.status, 0) << ending.output;
  EXPECT_THAT(ending.output, Not(HasSubstr("gantry")));
}

TEST(LifecycleTest, StaticViewOnTheSecondDeviceIsReportedThenRefusedByKokkos) {
  const Outcome ending = run("static_view", {two_devices});
  EXPECT_THAT(ending.output, AllOf(HasSubstr("forgotten"), HasSubstr("8128"), HasSubstr("host:1")));
  EXPECT_EQ(ending.status, aborted) << ending.output;
  EXPECT_THAT(ending.output, HasSubstr("Kokkos allocation \"forgotten\""));
}

TEST(LifecycleTest, ViewThatOutlivesFinalizeIsRefusedByKokkosAsOnAnyOtherSpace) {
  const Outcome ending = run("view_after_finalize");
  EXPECT_EQ(ending.status, aborted) << ending.output;
  EXPECT_THAT(ending.output, HasSubstr("Kokkos allocation \"late\""));
}

TEST(LifecycleTest, StaticViewWithoutFinalizeDoesNoHarm) {
  const Outcome ending = run("static_view_without_finalize", {two_devices});
  EXPECT_EQ(ending.status, 0) << ending.output;
}

TEST(LifecycleTest, FinalizeAtExitFindsTheDeviceAliveInHooks) {
  const Outcome ending = run("finalize_at_exit", {two_devices});
  EXPECT_EQ(ending.status, 0) << ending.output;
  EXPECT_THAT(ending.output, AllOf(HasSubstr("device works in the hook"), Not(HasSubstr("held"))));
}

TEST(LifecycleTest, ExitWithoutFinalizeKeepsTheExitCode) {
  EXPECT_EQ(run("exit_without_finalize").status, 3);
  EXPECT_EQ(run("quick_exit_without_finalize").status, 4);
}

TEST(LifecycleTest, LeaksAreReportedByLabelSizeAndDevice) {
  const Outcome memory = run("malloc_without_free", {"GANTRY_LEAKS=report"});
  EXPECT_EQ(memory.status, 0) << memory.output;
  EXPECT_THAT(memory.output, AllOf(HasSubstr("lost"), HasSubstr("1128"), HasSubstr("host")));
  const Outcome queue = run("instance_without_end", {"GANTRY_LEAKS=report"});
  EXPECT_EQ(queue.status, 0) << queue.output;
  EXPECT_THAT(queue.output, HasSubstr("queue"));
}

TEST(LifecycleTest, LeaksCanFailTheProgramOrBeIgnored) {
  EXPECT_EQ(run("malloc_without_free", {"GANTRY_LEAKS=fail"}).status, 86);
  const Outcome ignored = run("malloc_without_free", {"GANTRY_LEAKS=off"});
  EXPECT_EQ(ignored.status, 0);
  EXPECT_THAT(ignored.output, Not(HasSubstr("lost")));
}

TEST(LifecycleTest, ForkedChildIsRefusedAndTheParentGoesOn) {
  const Outcome ending = run("fork_after_open");
  EXPECT_EQ(ending.status, 0) << ending.output;
  EXPECT_THAT(ending.output, HasSubstr("child: refused"));
}

TEST(LifecycleTest, ForkedChildMayExit) {
  const Outcome ending = run("fork_and_exit_in_child");
  EXPECT_EQ(ending.status, 0) << ending.output;
}

TEST(LifecycleTest, DeviceListsAreAcceptedInTheirOrder) {
  const auto report = [](const std::string& devices) {
    return run("initialize_and_report", {two_devices, "GANTRY_DEVICES=" + devices});
  };
  EXPECT_THAT(report("1,0").output, HasSubstr("default: host:1\ndevices: host:1 host:0"));
  EXPECT_THAT(report("host:1").output, HasSubstr("default: host:1\ndevices: host:1\n"));
  EXPECT_THAT(report("host").output, HasSubstr("devices: host:0 host:1"));
}

TEST(LifecycleTest, DeviceListsThatMakeNoSenseAreRefusedByTheirText) {
  for (const std::string devices : {"0,0", "99", "-1", "foo", "", "1;2", "2,junk,1", "GPU-00000000", "MIG-7"}) {
    const Outcome ending = run("initialize_and_report", {two_devices, "GANTRY_DEVICES=" + devices});
    EXPECT_EQ(ending.status, 3) << devices << ending.output;
    EXPECT_THAT(ending.output, AllOf(HasSubstr("refused: "), HasSubstr("GANTRY_DEVICES"), HasSubstr("host:1")));
  }
}

TEST(LifecycleTest, KokkosSwitchesChooseTheDevice) {
  const Outcome second = run("initialize_and_report", {two_devices}, {"--kokkos-device-id=1"});
  EXPECT_THAT(second.output, HasSubstr("default: host:1")) << second.status;
  const Outcome turned = run("initialize_and_report", {two_devices, "GANTRY_DEVICES=1,0"}, {"--kokkos-device-id=1"});
  EXPECT_THAT(turned.output, HasSubstr("default: host:0")) << turned.status;
  const Outcome wrong = run("initialize_and_report", {two_devices}, {"--kokkos-device-id=99"});
  EXPECT_EQ(wrong.status, 3) << wrong.output;
  EXPECT_THAT(wrong.output, AllOf(HasSubstr("--kokkos-device-id"), HasSubstr("99"), HasSubstr("host:1")));
  const Outcome negative = run("initialize_and_report", {two_devices, "KOKKOS_DEVICE_ID=-5"});
  EXPECT_NE(negative.status, 0) << negative.output;
}

TEST(LifecycleTest, KokkosSwitchesMapRanksToDevices) {
  const Outcome ranked = run("initialize_and_report", {two_devices, "OMPI_COMM_WORLD_LOCAL_RANK=3"},
                             {"--kokkos-map-device-id-by=mpi_rank"});
  EXPECT_THAT(ranked.output, HasSubstr("default: host:1")) << ranked.status;
  const Outcome random = run("initialize_and_report", {two_devices}, {"--kokkos-map-device-id-by=random"});
  EXPECT_EQ(random.status, 0) << random.output;
}

TEST(LifecycleTest, KokkosSwitchesSetTheThreads) {
  const Outcome ending = run("initialize_and_report", {}, {"--kokkos-num-threads=3"});
  EXPECT_THAT(ending.output, HasSubstr("concurrency: 3")) << ending.status;
}

TEST(LifecycleTest, ThreadsHaveTheSameLimitWhoeverSetsThem) {
  for (const auto& [environment, argument] : {std::pair<Strings, Strings>{{"GANTRY_NUM_THREADS=70000"}, {}},
                                              {{}, {"--kokkos-num-threads=70000"}},
                                              {{"KOKKOS_NUM_THREADS=70000"}, {}}}) {
    const Outcome ending = run("initialize_and_report", environment, argument);
    EXPECT_EQ(ending.status, 3) << ending.output;
    EXPECT_THAT(ending.output, AllOf(HasSubstr("='70000' is not valid: a number from 1 to 65536")));
  }
}

TEST(LifecycleTest, AFailedInitializeIsForgotten) {
  const Outcome ending = run("initialize_again", {two_devices}, {"--kokkos-device-id=1"});
  EXPECT_EQ(ending.status, 0) << ending.output;
  EXPECT_THAT(ending.output, AllOf(HasSubstr("--kokkos-map-device-id-by='nonsense' is not valid: mpi_rank or random"),
                                   HasSubstr("--kokkos-device-id=99 is out of range"), HasSubstr("default: host:1")));
}

TEST(LifecycleTest, BadSettingsStopInitialize) {
  for (const char* setting : {"GANTRY_HOST_DEVICES=0", "GANTRY_NUM_THREADS=many", "GANTRY_LEAKS=perhaps",
                              "GANTRY_REQUIRE=gpu", "GANTRY_PROTECT=2"}) {
    const Outcome ending = run("initialize_and_report", {setting});
    EXPECT_EQ(ending.status, 3) << setting << ending.output;
    const std::string text(setting);
    EXPECT_THAT(ending.output, HasSubstr(text.substr(0, text.find('='))));
  }
}

TEST(LifecycleTest, ConfigurationIsPrintedOnRequest) {
  const Outcome ending = run("nothing", {two_devices}, {"--kokkos-print-configuration"});
  EXPECT_THAT(ending.output, AllOf(HasSubstr("gantry::Offload"), HasSubstr("host:1"), HasSubstr("cpus")));
}

TEST(LifecycleTest, UseOutsideOfKokkosLifeIsRefused) {
  EXPECT_THAT(run("use_before_initialize").output, HasSubstr("before Kokkos::initialize"));
  EXPECT_THAT(run("use_after_finalize").output, HasSubstr("after Kokkos::finalize"));
  const Outcome kept = run("instance_after_finalize");
  EXPECT_EQ(kept.status, 0) << kept.output;
}

TEST(LifecycleTest, WhatWasMadeForADeviceWithFewerSlotsEndsTheProgram) {
  for (const char* program :
       {"token_of_a_smaller_device", "global_token_of_a_smaller_device", "pool_of_a_smaller_device"}) {
    const Outcome ending = run(program, {two_devices, "GANTRY_NUM_THREADS=3"});
    EXPECT_EQ(ending.status, aborted) << program << ending.output;
    EXPECT_THAT(ending.output, HasSubstr("is used on a device with more thread slots"));
  }
}

TEST(LifecycleTest, KernelThatThrowsIsNamedByTheFence) {
  const Outcome ending = run("kernel_throws");
  EXPECT_EQ(ending.status, 0) << ending.output;
  EXPECT_THAT(ending.output, AllOf(HasSubstr("kernel_throws"), HasSubstr("from the kernel")));
}

TEST(LifecycleTest, FailureThatADestructorSawIsToldByTheNextFence) {
  const Outcome ending = run("failure_behind_a_view", {launches_return});
  EXPECT_EQ(ending.status, 0) << ending.output;
  EXPECT_THAT(ending.output, HasSubstr("from the kernel"));
}

TEST(LifecycleTest, FailureThatNobodyWasToldFailsTheProgram) {
  const Outcome ending = run("failure_before_finalize", {launches_return});
  EXPECT_EQ(ending.status, 87) << ending.output;
  EXPECT_THAT(ending.output, AllOf(HasSubstr("Kokkos::finalize"), HasSubstr("from the kernel")));
}

TEST(LifecycleTest, ViewThatCannotBeMadeHoldsNothing) {
  const Outcome ending = run("view_that_cannot_be_made");
  EXPECT_EQ(ending.status, 0) << ending.output;
  EXPECT_THAT(ending.output, AllOf(HasSubstr("from the constructor"), HasSubstr("on a failed device"),
                                   HasSubstr("a View cannot be made inside a kernel"), Not(HasSubstr("held"))));
}

}  // namespace
