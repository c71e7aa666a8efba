// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>
#include <vector>

extern char** environ;

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

struct Ending {
  int exit_code = -1;  ///< -1: ended by a signal
  int signal = 0;
  std::string output;  ///< standard output and error together
};

using Strings = std::vector<std::string>;

Ending run(const std::string& name, Strings environment = {}, Strings arguments = {}) {
  arguments.insert(arguments.begin(), {GANTRY_LIFECYCLE_PROGRAM, name});
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);

  environment.push_back("OMP_PROC_BIND=false");
  std::vector<char*> envp;
  for (std::string& entry : environment) envp.push_back(entry.data());
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string given(*entry);
    bool replaced = false;
    for (const std::string& ours : environment) replaced |= given.starts_with(ours.substr(0, ours.find('=') + 1));
    if (!replaced) envp.push_back(*entry);
  }
  envp.push_back(nullptr);

  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) return {};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], 2);
  pid_t child = 0;
  const int spawned = posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), envp.data());
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_ends[1]);

  Ending ending;
  std::array<char, 4096> buffer;
  for (ssize_t got = 0; spawned == 0 && (got = read(pipe_ends[0], buffer.data(), buffer.size())) > 0;)
    ending.output.append(buffer.data(), static_cast<std::size_t>(got));
  close(pipe_ends[0]);
  if (spawned != 0) return ending;
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status)) ending.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) ending.signal = WTERMSIG(status);
  return ending;
}

const std::string two_devices = "GANTRY_HOST_DEVICES=2";

TEST(LifecycleTest, CleanProgramIsSilent) {
  const Ending ending = run("nothing");
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  EXPECT_THAT(ending.output, Not(HasSubstr("gantry")));
}

TEST(LifecycleTest, StaticViewOnTheSecondDeviceIsReportedThenRefusedByKokkos) {
  const Ending ending = run("static_view", {two_devices});
  EXPECT_THAT(ending.output, AllOf(HasSubstr("forgotten"), HasSubstr("8128"), HasSubstr("host:1")));
  EXPECT_EQ(ending.signal, SIGABRT) << ending.output;
  EXPECT_THAT(ending.output, HasSubstr("Kokkos allocation \"forgotten\""));
}

TEST(LifecycleTest, ViewThatOutlivesFinalizeIsRefusedByKokkosAsOnAnyOtherSpace) {
  const Ending ending = run("view_after_finalize");
  EXPECT_EQ(ending.signal, SIGABRT) << ending.output;
  EXPECT_THAT(ending.output, HasSubstr("Kokkos allocation \"late\""));
}

TEST(LifecycleTest, StaticViewWithoutFinalizeDoesNoHarm) {
  const Ending ending = run("static_view_without_finalize", {two_devices});
  EXPECT_EQ(ending.exit_code, 0) << ending.signal << ending.output;
}

TEST(LifecycleTest, FinalizeAtExitFindsTheDeviceAliveInHooks) {
  const Ending ending = run("finalize_at_exit", {two_devices});
  EXPECT_EQ(ending.exit_code, 0) << ending.signal << ending.output;
  EXPECT_THAT(ending.output, AllOf(HasSubstr("device works in the hook"), Not(HasSubstr("held"))));
}

TEST(LifecycleTest, ExitWithoutFinalizeKeepsTheExitCode) {
  EXPECT_EQ(run("exit_without_finalize").exit_code, 3);
  EXPECT_EQ(run("quick_exit_without_finalize").exit_code, 4);
}

TEST(LifecycleTest, LeaksAreReportedByLabelSizeAndDevice) {
  const Ending memory = run("malloc_without_free", {"GANTRY_LEAKS=report"});
  EXPECT_EQ(memory.exit_code, 0) << memory.output;
  EXPECT_THAT(memory.output, AllOf(HasSubstr("lost"), HasSubstr("1128"), HasSubstr("host")));
  const Ending queue = run("instance_without_end", {"GANTRY_LEAKS=report"});
  EXPECT_EQ(queue.exit_code, 0) << queue.output;
  EXPECT_THAT(queue.output, HasSubstr("queue"));
}

TEST(LifecycleTest, LeaksCanFailTheProgramOrBeIgnored) {
  EXPECT_GT(run("malloc_without_free", {"GANTRY_LEAKS=fail"}).exit_code, 0);
  const Ending ignored = run("malloc_without_free", {"GANTRY_LEAKS=off"});
  EXPECT_EQ(ignored.exit_code, 0);
  EXPECT_THAT(ignored.output, Not(HasSubstr("lost")));
}

TEST(LifecycleTest, ForkedChildIsRefusedAndTheParentGoesOn) {
  const Ending ending = run("fork_after_open");
  EXPECT_EQ(ending.exit_code, 0) << ending.signal << ending.output;
  EXPECT_THAT(ending.output, HasSubstr("child: refused"));
}

TEST(LifecycleTest, ForkedChildMayExit) {
  const Ending ending = run("fork_and_exit_in_child");
  EXPECT_EQ(ending.exit_code, 0) << ending.signal << ending.output;
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
    const Ending ending = run("initialize_and_report", {two_devices, "GANTRY_DEVICES=" + devices});
    EXPECT_EQ(ending.exit_code, 3) << devices << ending.output;
    EXPECT_THAT(ending.output, AllOf(HasSubstr("refused: "), HasSubstr("GANTRY_DEVICES"), HasSubstr("host:1")));
  }
}

TEST(LifecycleTest, KokkosSwitchesChooseTheDevice) {
  const Ending second = run("initialize_and_report", {two_devices}, {"--kokkos-device-id=1"});
  EXPECT_THAT(second.output, HasSubstr("default: host:1")) << second.signal;
  const Ending turned = run("initialize_and_report", {two_devices, "GANTRY_DEVICES=1,0"}, {"--kokkos-device-id=1"});
  EXPECT_THAT(turned.output, HasSubstr("default: host:0")) << turned.signal;
  const Ending wrong = run("initialize_and_report", {two_devices}, {"--kokkos-device-id=99"});
  EXPECT_EQ(wrong.exit_code, 3) << wrong.output;
  EXPECT_THAT(wrong.output, AllOf(HasSubstr("--kokkos-device-id"), HasSubstr("99"), HasSubstr("host:1")));
  const Ending negative = run("initialize_and_report", {two_devices, "KOKKOS_DEVICE_ID=-5"});
  EXPECT_NE(negative.exit_code, 0) << negative.output;
}

TEST(LifecycleTest, KokkosSwitchesMapRanksToDevices) {
  const Ending ranked = run("initialize_and_report", {two_devices, "OMPI_COMM_WORLD_LOCAL_RANK=3"},
                            {"--kokkos-map-device-id-by=mpi_rank"});
  EXPECT_THAT(ranked.output, HasSubstr("default: host:1")) << ranked.signal;
  const Ending random = run("initialize_and_report", {two_devices}, {"--kokkos-map-device-id-by=random"});
  EXPECT_EQ(random.exit_code, 0) << random.output;
  EXPECT_NE(run("map_by_nonsense").exit_code, 0);
}

TEST(LifecycleTest, KokkosSwitchesSetTheThreads) {
  const Ending ending = run("initialize_and_report", {}, {"--kokkos-num-threads=3"});
  EXPECT_THAT(ending.output, HasSubstr("concurrency: 3")) << ending.signal;
}

TEST(LifecycleTest, BadSettingsStopInitialize) {
  for (const char* setting : {"GANTRY_HOST_DEVICES=0", "GANTRY_NUM_THREADS=many", "GANTRY_LEAKS=perhaps",
                              "GANTRY_REQUIRE=gpu", "GANTRY_PROTECT=2"}) {
    const Ending ending = run("initialize_and_report", {setting});
    EXPECT_EQ(ending.exit_code, 3) << setting << ending.output;
    const std::string text(setting);
    EXPECT_THAT(ending.output, HasSubstr(text.substr(0, text.find('='))));
  }
}

TEST(LifecycleTest, ConfigurationIsPrintedOnRequest) {
  const Ending ending = run("nothing", {two_devices}, {"--kokkos-print-configuration"});
  EXPECT_THAT(ending.output, AllOf(HasSubstr("gantry::Offload"), HasSubstr("host:1"), HasSubstr("cpus")));
}

TEST(LifecycleTest, UseOutsideOfKokkosLifeIsRefused) {
  EXPECT_THAT(run("use_before_initialize").output, HasSubstr("before Kokkos::initialize"));
  EXPECT_THAT(run("use_after_finalize").output, HasSubstr("after Kokkos::finalize"));
  const Ending kept = run("instance_after_finalize");
  EXPECT_EQ(kept.exit_code, 0) << kept.output;
}

TEST(LifecycleTest, KernelThatThrowsIsNamedByTheFence) {
  const Ending ending = run("kernel_throws");
  EXPECT_EQ(ending.exit_code, 0) << ending.signal << ending.output;
  EXPECT_THAT(ending.output, AllOf(HasSubstr("kernel_throws"), HasSubstr("from the kernel")));
}

}  // namespace
