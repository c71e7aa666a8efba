// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One way to live and end for each name that it is called with; lifecycle_test.cpp says what must come of it.
// Gantry is a secondary space here: the default execution space is the host's.
#include <gantry/kokkos/Gantry_Kokkos.hpp>

#include <Kokkos_Random.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using gantry::Offload;
using gantry::OffloadSpace;
using View = Kokkos::View<double*, OffloadSpace>;

constexpr int failed = 9;

int g_argc;
char** g_argv;

void initialize() {
  Kokkos::initialize(g_argc, g_argv);
}

gantry::DeviceId last_device() {
  return static_cast<gantry::DeviceId>(gantry::devices().value().size()) - 1;
}

View make_view(const std::string& label) {
  const View view(Kokkos::view_alloc(label, OffloadSpace(last_device())), 1000);
  Kokkos::deep_copy(view, 1.5);
  return view;
}

int nothing() {
  initialize();
  Kokkos::finalize();
  return 0;
}

int static_view() {
  initialize();
  static const View forgotten = make_view("forgotten");
  Kokkos::finalize();
  return 0;
}

int static_view_without_finalize() {
  initialize();
  static const View forgotten = make_view("forgotten");
  return 0;
}

View* g_held = nullptr;

int finalize_at_exit() {
  std::atexit(Kokkos::finalize);
  initialize();
  g_held = new View(make_view("held"));
  Kokkos::push_finalize_hook([] {
    // The device still works here.
    Kokkos::deep_copy(*g_held, 2.0);
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), *g_held);
    std::puts(host(999) == 2.0 ? "device works in the hook" : "wrong value in the hook");
    delete g_held;
  });
  return 0;
}

int exit_without_finalize() {
  initialize();
  g_held = new View(make_view("held"));
  std::exit(3);
}

int quick_exit_without_finalize() {
  initialize();
  g_held = new View(make_view("held"));
  std::quick_exit(4);
}

int malloc_without_free() {
  initialize();
  (void)Kokkos::kokkos_malloc<OffloadSpace>("lost", 1000);
  Kokkos::finalize();
  return 0;
}

int instance_without_end() {
  initialize();
  static const Offload forgotten(last_device());
  Kokkos::finalize();
  return 0;
}

int fork_after_open() {
  initialize();
  {
    const View view = make_view("shared");
    const Offload instance(last_device());
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      try {
        Kokkos::deep_copy(instance, view, 3.0);
        instance.fence();
        _exit(failed);
      } catch (const gantry::Error& error) {
        std::printf("child: %s\n", error.what());
        std::fflush(stdout);
        _exit(error.code() == gantry::Code::refused ? 0 : failed);
      }
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return failed;
    Kokkos::deep_copy(instance, view, 4.0);
    instance.fence();
    if (Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view)(0) != 4.0) return failed;
  }
  Kokkos::finalize();
  return 0;
}

int fork_and_exit_in_child() {
  initialize();
  {
    const View view = make_view("shared");
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) std::exit(0);  // destructors of statics run, the View's does not
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status)) return failed;
    Kokkos::deep_copy(view, 4.0);
  }
  Kokkos::finalize();
  return 0;
}

template <class Function>
bool refused(const Function& function) {
  try {
    function();
    return false;
  } catch (const std::exception& error) {
    std::cout << "refused: " << error.what() << std::endl;
    return true;
  }
}

int initialize_and_report() {
  if (refused(initialize)) return 3;
  const std::vector<gantry::DeviceStatus> devices = gantry::devices().value();
  const gantry::DeviceId chosen = gantry::default_device().value().id;
  std::cout << "default: " << devices[static_cast<std::size_t>(chosen)].info.name << "\ndevices:";
  for (const gantry::DeviceStatus& device : devices) std::cout << ' ' << device.info.name;
  std::cout << "\nconcurrency: " << Offload().concurrency() << std::endl;
  Kokkos::finalize();
  return 0;
}

int initialize_again() {
  auto settings = Kokkos::InitializationSettings().set_map_device_id_by("nonsense");
  if (!refused([&] { Kokkos::initialize(settings); })) return failed;
  settings.set_map_device_id_by("random").set_device_id(99);
  if (!refused([&] { Kokkos::initialize(settings); })) return failed;
  return initialize_and_report();
}

template <class Function>
int expect_error(const Function& function) {
  try {
    function();
  } catch (const gantry::Error& error) {
    std::printf("error: %s\n", error.what());
    return error.code() == gantry::Code::refused ? 0 : failed;
  }
  return failed;
}

int use_before_initialize() {
  return expect_error([] { Offload(); });
}

int use_after_finalize() {
  nothing();
  const int first = expect_error([] { Offload(); });
  return first != 0 ? first : expect_error([] { Offload(0); });
}

int instance_after_finalize() {
  initialize();
  static const Offload kept(0);
  Kokkos::finalize();
  try {
    kept.fence();
  } catch (const gantry::Error& error) {
    std::printf("error: %s\n", error.what());
    return 0;
  }
  return failed;
}

int view_after_finalize() {
  initialize();
  {
    const View view = make_view("late");
    Kokkos::finalize();
  }
  return 0;
}

int kernel_throws() {
  initialize();
  int result = failed;
  {
    const Offload instance(0);
    try {
      Kokkos::parallel_for(
          Kokkos::RangePolicy<Offload>(instance, 0, 1),
          KOKKOS_LAMBDA(int) { throw std::runtime_error("from the kernel"); });
      instance.fence();
    } catch (const gantry::Error& error) {
      std::printf("error: %s\n", error.what());
      if (error.code() == gantry::Code::kernel_error) result = 0;
    }
  }
  Kokkos::finalize();
  return result;
}

void launch_a_failure() {
  try {
    Kokkos::parallel_for(
        Kokkos::RangePolicy<Offload>(0, 1), KOKKOS_LAMBDA(int) { throw std::runtime_error("from the kernel"); });
    // Where launches wait for their work, it is the launch that tells; nobody listens here.
  } catch (const gantry::Error&) {
  }
}

int failure_behind_a_view() {
  initialize();
  {
    const View view("view", 1000);
    const Kokkos::View<std::string*, OffloadSpace> elements("elements", 10);
    launch_a_failure();
  }
  try {
    Kokkos::fence();
  } catch (const gantry::Error& error) {
    std::printf("error: %s\n", error.what());
    return 0;
  }
  return failed;
}

int failure_before_finalize() {
  initialize();
  { const View view("view", 1000); }
  launch_a_failure();
  Kokkos::finalize();
  return 0;
}

struct NeverMade {
  KOKKOS_INLINE_FUNCTION NeverMade() { throw std::runtime_error("from the constructor"); }
};

template <class Make>
int expect_nothing_held(const Make& make) {
  int result = failed;
  try {
    make();
  } catch (const gantry::Error& error) {
    std::printf("error: %s\n", error.what());
    result = 0;
  }
  gantry::fence_all().ignore();
  if (const gantry::Status closed = gantry::close_device(0); !closed.ok()) {
    std::printf("%s\n", closed.message().c_str());
    return failed;
  }
  const View again("the device works again", 10);
  return result;
}

int view_that_cannot_be_made() {
  initialize();
  int result = expect_nothing_held([] { Kokkos::View<NeverMade*, OffloadSpace>("elements throw", 10); });
  result |= expect_nothing_held([] {
    launch_a_failure();
    gantry::wait_all().ignore();
    Kokkos::View<double*, OffloadSpace>("on a failed device", 10);
  });
  result |= expect_nothing_held([] {
    Kokkos::parallel_for(
        Kokkos::RangePolicy<Offload>(0, 1),
        KOKKOS_LAMBDA(int) { Kokkos::View<double*, OffloadSpace>("in a kernel", 100000); });
    Offload().fence();
  });
  Kokkos::finalize();
  return result;
}

/// Two kernels that run at the same time on a device with two slots, and need a slot of a device that has one.
template <class NeedSlot>
int on_two_slots(const NeedSlot& need_slot) {
  const Kokkos::View<int, gantry::OffloadPinnedSpace> arrived("arrived");
  const auto instances = Kokkos::Experimental::partition_space(Offload(last_device()), 1, 1);
  if (Offload().concurrency() != 1 || instances[0].concurrency() != 2) return failed;
  for (const Offload& instance : instances) {
    const auto policy = Kokkos::Experimental::require(Kokkos::RangePolicy<Offload>(instance, 0, 1),
                                                      Kokkos::Experimental::WorkItemProperty::HintHeavyWeight);
    Kokkos::parallel_for(
        policy, KOKKOS_LAMBDA(int) {
          Kokkos::atomic_add(&arrived(), 1);
          while (Kokkos::atomic_load(&arrived()) < 2) {
          }
          need_slot();
        });
  }
  Kokkos::fence();
  return 0;
}

int token_of_a_smaller_device() {
  initialize();
  const Kokkos::Experimental::UniqueToken<Offload> token{Offload()};
  return on_two_slots(KOKKOS_LAMBDA() { token.release(token.acquire()); });
}

int global_token_of_a_smaller_device() {
  initialize();
  const Kokkos::Experimental::UniqueToken<Offload, Kokkos::Experimental::UniqueTokenScope::Global> token{Offload()};
  return on_two_slots(KOKKOS_LAMBDA() { token.release(token.acquire()); });
}

int pool_of_a_smaller_device() {
  initialize();
  // In memory that both devices reach: with GANTRY_PROTECT=1 the kernel would not get as far otherwise.
  using Device = Kokkos::Device<Offload, gantry::OffloadPinnedSpace>;
  const Kokkos::Random_XorShift64_Pool<Device> pool(Offload(), 1);
  return on_two_slots(KOKKOS_LAMBDA() { pool.free_state(pool.get_state()); });
}

const std::map<std::string, int (*)()> programs = {
    {"exit_without_finalize", exit_without_finalize},
    {"failure_before_finalize", failure_before_finalize},
    {"failure_behind_a_view", failure_behind_a_view},
    {"finalize_at_exit", finalize_at_exit},
    {"fork_after_open", fork_after_open},
    {"fork_and_exit_in_child", fork_and_exit_in_child},
    {"global_token_of_a_smaller_device", global_token_of_a_smaller_device},
    {"initialize_again", initialize_again},
    {"initialize_and_report", initialize_and_report},
    {"instance_after_finalize", instance_after_finalize},
    {"instance_without_end", instance_without_end},
    {"kernel_throws", kernel_throws},
    {"malloc_without_free", malloc_without_free},
    {"nothing", nothing},
    {"pool_of_a_smaller_device", pool_of_a_smaller_device},
    {"quick_exit_without_finalize", quick_exit_without_finalize},
    {"static_view", static_view},
    {"static_view_without_finalize", static_view_without_finalize},
    {"token_of_a_smaller_device", token_of_a_smaller_device},
    {"use_after_finalize", use_after_finalize},
    {"use_before_initialize", use_before_initialize},
    {"view_after_finalize", view_after_finalize},
    {"view_that_cannot_be_made", view_that_cannot_be_made},
};

}  // namespace

int main(int argc, char** argv) {
  const auto program = argc > 1 ? programs.find(argv[1]) : programs.end();
  if (program == programs.end()) {
    for (const auto& [name, function] : programs) std::puts(name.c_str());
    return 2;
  }
  g_argc = argc;
  g_argv = argv;
  return program->second();
}
