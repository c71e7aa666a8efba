// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ends in the way that its argument names; exit_test.cpp runs it and looks at what is left.
#include <gantry/core/gantry.hpp>
#include <unit_tests/support/launch.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace {

using gantry::test::launch;

void check(const gantry::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.message().c_str());
  std::_Exit(99);
}

gantry::DeviceHandle open() {
  auto handle = gantry::open_device(0);
  check(handle.status());
  return handle.value();
}

void* allocate(gantry::DeviceHandle device, const char* label) {
  auto memory = gantry::allocate(device, gantry::MemoryKind::device, 1000, label);
  check(memory.status());
  return memory.value();
}

/// What a program keeps in a static: it frees its memory when the static is destroyed.
struct Holder {
  gantry::DeviceHandle device;
  void* memory = nullptr;
  gantry::QueueRef queue;
  ~Holder() {
    if (memory == nullptr) return;
    check(gantry::deallocate(device, memory));
    check(launch(queue, [] { std::fputs("the device works in destructors\n", stderr); }));
    check(queue.sync());
  }
};

gantry::DeviceHandle g_device;
void* g_memory = nullptr;

void work(gantry::DeviceHandle device) {
  check(launch(gantry::default_queue(device).value(), [] {}));
  check(gantry::fence_all());
}

int clean() {
  const auto device = open();
  work(device);
  check(gantry::deallocate(device, allocate(device, "short lived")));
  check(gantry::close_all_devices());
  return 0;
}

int forgets() {
  const auto device = open();
  work(device);
  allocate(device, "forgotten");
  std::printf("last words");  // stays in the buffer until the end
  return 0;
}

int forgets_and_fails() {
  forgets();
  std::exit(3);
}

int forgets_and_closes() {
  forgets();
  check(gantry::close_all_devices());
  return 0;
}

int forgets_and_quick_exits() {
  forgets_and_closes();
  std::fflush(stdout);
  std::quick_exit(0);
}

int static_holder() {
  static Holder holder;  // made before the device is opened
  holder.device = open();
  holder.memory = allocate(holder.device, "held by a static");
  holder.queue = gantry::create_queue(holder.device, "static queue").value();
  return 0;
}

int static_holder_after_close() {
  static Holder holder;
  holder.device = open();
  static gantry::QueueRef queue = gantry::create_queue(holder.device, "outlives the device").value();
  allocate(holder.device, "outlives the device");
  check(gantry::close_all_devices());
  return 0;
}

int atexit_close() {
  std::atexit([] {
    check(gantry::deallocate(g_device, g_memory));
    work(g_device);
    std::fputs("alive in the hook\n", stderr);
    check(gantry::close_all_devices());
  });
  g_device = open();
  g_memory = allocate(g_device, "freed in the hook");
  return 0;
}

int quick_exit_open() {
  work(open());
  std::quick_exit(0);
}

int exit_in_kernel() {
  const auto queue = gantry::default_queue(open()).value();
  check(launch(queue, [] { std::exit(3); }));
  check(queue.sync());
  return 0;
}

int kernel_never_ends() {
  const auto queue = gantry::default_queue(open()).value();
  static std::atomic<bool> started{false};
  std::thread([queue] {
    launch(queue, [] {
      started = true;
      for (;;) pause();
    }).ignore();
    queue.sync().ignore();
  }).detach();
  while (!started) std::this_thread::yield();
  return 0;
}

int kernel_fails() {
  launch(
      gantry::default_queue(open()).value(), [] { throw 1; }, "unwatched")
      .ignore();
  return 0;
}

int kernel_fails_and_is_told() {
  kernel_fails();
  return gantry::fence_all().code() == gantry::Code::kernel_error ? 0 : 4;
}

int others_still_call() {
  const auto device = open();
  static std::atomic<int> calls{0};
  for (int i = 0; i < 2; ++i) {
    std::thread([device] {
      for (;;) {
        auto queue = gantry::create_queue(device, "racing");
        if (queue.ok()) launch(queue.value(), [] {}).ignore();
        ++calls;
      }
    }).detach();
  }
  while (calls < 100) std::this_thread::yield();
  return 0;
}

int forked_child() {
  g_device = open();
  g_memory = allocate(g_device, "the parent's");
  const pid_t child = fork();
  if (child == 0) {
    const bool refused = gantry::deallocate(g_device, g_memory).code() == gantry::Code::refused;
    std::exit(refused ? 0 : 4);
  }
  int status = -1;
  waitpid(child, &status, 0);
  if (status != 0) return 5;
  work(g_device);
  check(gantry::deallocate(g_device, g_memory));
  return 0;
}

struct Path {
  const char* name;
  int (*run)();
};
constexpr Path paths[] = {
    {"clean", clean},
    {"forgets", forgets},
    {"forgets_and_fails", forgets_and_fails},
    {"forgets_and_closes", forgets_and_closes},
    {"forgets_and_quick_exits", forgets_and_quick_exits},
    {"static_holder", static_holder},
    {"static_holder_after_close", static_holder_after_close},
    {"atexit_close", atexit_close},
    {"quick_exit_open", quick_exit_open},
    {"exit_in_kernel", exit_in_kernel},
    {"kernel_never_ends", kernel_never_ends},
    {"kernel_fails", kernel_fails},
    {"kernel_fails_and_is_told", kernel_fails_and_is_told},
    {"others_still_call", others_still_call},
    {"forked_child", forked_child},
};

}  // namespace

int main(int argc, char** argv) {
  for (const Path& path : paths) {
    if (argc == 2 && std::string(argv[1]) == path.name) return path.run();
  }
  return 98;
}
