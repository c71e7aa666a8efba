// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gantry without Kokkos: a device is opened, used, found busy, closed and opened again.
#include <gantry/base/try.hpp>
#include <gantry/core/gantry.hpp>
#include <gantry/device/launch.hpp>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

using gantry::Result;
using gantry::Status;

/// y = a * x + y on a device, with host vectors; the queue runs everything in order.
Status saxpy(gantry::DeviceHandle device, float a, const std::vector<float>& x, std::vector<float>& y) {
  const auto count = static_cast<std::int64_t>(x.size());
  const std::size_t bytes = x.size() * sizeof(float);
  GANTRY_TRY_ASSIGN(gantry::QueueRef queue, gantry::create_queue(device, "saxpy"));
  GANTRY_TRY_ASSIGN(void* x_memory, gantry::allocate(device, gantry::MemoryKind::device, bytes, "x"));
  GANTRY_TRY_ASSIGN(void* y_memory, gantry::allocate(device, gantry::MemoryKind::device, bytes, "y"));
  auto* const on_device_x = static_cast<float*>(x_memory);
  auto* const on_device_y = static_cast<float*>(y_memory);

  GANTRY_TRY(queue.copy(on_device_x, x.data(), bytes));
  GANTRY_TRY(queue.copy(on_device_y, y.data(), bytes));
  GANTRY_TRY(gantry::parallel_for(queue, count, [=](std::int64_t i) { on_device_y[i] += a * on_device_x[i]; }));
  GANTRY_TRY(queue.copy(y.data(), on_device_y, bytes));
  GANTRY_TRY(queue.sync());  // nothing above has waited

  GANTRY_TRY(gantry::deallocate(device, on_device_x));
  return gantry::deallocate(device, on_device_y);
}

Status run() {
  GANTRY_TRY_ASSIGN(const auto list, gantry::devices());  // opens nothing
  for (const gantry::DeviceStatus& device : list)
    std::printf("%s: %d threads, %s\n", device.info.name.c_str(), device.info.concurrency, device.selection.c_str());

  GANTRY_TRY_ASSIGN(const gantry::DeviceChoice choice, gantry::default_device());
  GANTRY_TRY_ASSIGN(gantry::DeviceHandle device, gantry::open_device(choice.id));
  const std::vector<float> x(1000, 2.0F);
  std::vector<float> y(1000, 1.0F);
  GANTRY_TRY(saxpy(device, 3.0F, x, y));
  std::printf("y = %g\n", y[999]);

  // A close is refused while the program holds something, and says what.
  GANTRY_TRY_ASSIGN(void* forgotten, gantry::allocate(device, gantry::MemoryKind::device, 4096, "forgotten"));
  const Status busy = gantry::close_device(choice.id);
  std::printf("%s: %s\n", std::string(gantry::code_name(busy.code())).c_str(), gantry::leak_report().to_text().c_str());
  GANTRY_TRY(gantry::deallocate(device, forgotten));
  GANTRY_TRY(gantry::close_device(choice.id));

  // What was made before the close is stale for ever; opening again gives a new generation.
  const Status stale = saxpy(device, 3.0F, x, y);
  std::printf("%s\n", std::string(gantry::code_name(stale.code())).c_str());
  GANTRY_TRY_ASSIGN(device, gantry::open_device(choice.id));
  GANTRY_TRY(saxpy(device, 3.0F, x, y));
  std::printf("y = %g in generation %u\n", y[999], device.generation);
  return gantry::close_device(choice.id);
}

int main() {
  const Status status = run();
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}
