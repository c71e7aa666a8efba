// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Brings Gantry into a process that knows nothing of it, plugin_program.cpp, which unloads it again.
#include <gantry/core/gantry.hpp>
#include <unit_tests/support/launch.hpp>

#include <cstdio>

namespace {

struct Holder {
  gantry::DeviceHandle device;
  void* memory = nullptr;
  ~Holder() {
    const bool freed = gantry::wait_all().ok() && gantry::deallocate(device, memory).ok();
    std::fputs(freed ? "freed as the plugin went\n" : "not freed\n", stderr);
  }
};

}  // namespace

extern "C" __attribute__((visibility("default"))) bool use_a_device() {
  static Holder holder;
  const auto device = gantry::open_device(0);
  if (!device.ok()) return false;
  const auto memory = gantry::allocate(*device, gantry::MemoryKind::device, 1000, "held by the plugin");
  if (!memory.ok()) return false;
  holder.device = *device;
  holder.memory = *memory;
  const auto queue = gantry::default_queue(*device);
  return queue.ok() && gantry::test::launch(*queue, [] {}).ok();
}
