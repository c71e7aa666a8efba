// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/core/fork_guard.hpp>

#include <unit_tests/support/launch.hpp>
#include <unit_tests/support/runtime_fixture.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <string>

namespace gantry::test {
namespace {

class ForkGuardTest : public RuntimeFixture {
 protected:
  /// Runs `check` in a child; the name of the first thing that was wrong there, empty when all was well.
  template <class Check>
  static std::string in_child(Check&& check) {
    std::array<int, 2> pipe_ends{};
    if (pipe(pipe_ends.data()) != 0) return "pipe";
    const pid_t child = fork();
    if (child == 0) {
      const std::string wrong = check();
      const bool written = write(pipe_ends[1], wrong.data(), wrong.size()) == static_cast<ssize_t>(wrong.size());
      _exit(written ? 0 : 1);
    }
    close(pipe_ends[1]);
    std::string wrong;
    std::array<char, 256> buffer{};
    for (ssize_t n = 0; (n = read(pipe_ends[0], buffer.data(), buffer.size())) > 0;) {
      wrong.append(buffer.data(), static_cast<std::size_t>(n));
    }
    close(pipe_ends[0]);
    int status = -1;
    waitpid(child, &status, 0);
    if (status != 0) wrong += " status " + std::to_string(status);
    return wrong;
  }
};

TEST_F(ForkGuardTest, AChildIsRefusedPromptlyAndTheParentGoesOn) {
  const DeviceHandle handle = open();
  std::optional<QueueRef> queue = create_queue(handle);
  void* memory = allocate(handle, 100);
  const FakeDriver::Live before = backend.driver.live();
  const std::string wrong = in_child([&]() -> std::string {
    const auto refused = [](const Status& status) {
      return status.code() == Code::refused && status.text().find("fork") != std::string::npos;
    };
    if (!in_forked_child()) return "in_forked_child";
    if (!refused(launch(*queue, [] {}))) return "launch";
    if (!refused(queue->sync())) return "sync";
    if (!refused(runtime->open(0).status())) return "open";
    if (!refused(runtime->devices().status())) return "devices";
    if (!refused(runtime->close(0, CloseMode::force))) return "close";
    if (!refused(runtime->close_all())) return "close_all";
    if (!refused(runtime->fence_all())) return "fence_all";
    if (!runtime->leak_report().empty()) return "leak_report";
    queue.reset();  // frees nothing
    if (backend.driver.live() != before || live.count() != 2) return "live objects";
    return "";
  });
  EXPECT_EQ(wrong, "");
  EXPECT_EQ(backend.driver.live(), before);
  EXPECT_OK(launch(*queue, [] {}));
  EXPECT_OK(device().deallocate(handle.generation, memory));
}

TEST_F(ForkGuardTest, TheGrandchildIsRefusedToo) {
  open();
  EXPECT_EQ(in_child([&]() -> std::string {
              return in_child([&]() -> std::string { return in_forked_child() ? "" : "grandchild"; });
            }),
            "");
}

}  // namespace
}  // namespace gantry::test
