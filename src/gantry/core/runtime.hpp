// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/settings.hpp>
#include <gantry/core/allocation.hpp>
#include <gantry/core/backend.hpp>
#include <gantry/core/device_status.hpp>
#include <gantry/core/live_objects.hpp>
#include <gantry/core/selection.hpp>

#include <memory>
#include <optional>
#include <vector>

namespace gantry {

class ManagedDevice;

/// The process's devices and their life.
///
///     Kokkos::initialize -> kokkos/Offload.cpp -> Runtime::open -> ManagedDevice::open (a table of steps) ->
///     Backend::open -> the Device, and back through Runtime::close: the same table upwards, with the leak report
///
/// One object, made at first use and never destroyed: destructors of statics may call in at any time.
/// The functions of gantry.hpp are thin forwards to it, and say what each does. Thread safety: all functions, any
/// thread. After fork the child's calls return `refused`.
class GANTRY_API Runtime {
 public:
  static Runtime& get();

  /// A runtime of its own, for tests; no settings: every call returns settings_status(). Destroying it closes its
  /// devices by force; references to their queues must be gone.
  Runtime(std::vector<Backend*> backends, std::optional<Settings> settings, LiveObjects& live);
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  /// What the process gives its devices and, when a front end has its own switches, which device they ask for. Only
  /// before the device list was first used: `busy` afterwards. Where `resources` names no CPUs, it is those of the
  /// calling thread; GANTRY_NUM_THREADS comes before its num_threads.
  struct Configuration {
    ProcessResources resources;
    DeviceRequest request;
  };
  Status configure(Configuration configuration);

  /// All that exists, usable or not, and why; nothing is opened. The list is made once; an error is not kept.
  Result<Selection> selection();

  Result<std::vector<DeviceStatus>> devices();
  Result<DeviceChoice> default_device();
  Result<DeviceHandle> open(DeviceId id);
  Status close(DeviceId id, CloseMode mode);
  Status close_all();
  [[nodiscard]] LeakReport leak_report() const;
  LeakCallback set_leak_callback(LeakCallback callback, void* user);
  /// True when GANTRY_LEAKS=fail and a leak report was not empty: the process must not end with status 0.
  [[nodiscard]] bool leaks_failed() const noexcept;
  bool find_allocation(const void* address, Allocation& found) const noexcept;
  Status fence_all();
  Status wait_all();
  void flush_output();
  [[nodiscard]] std::vector<BackendCalls> call_statistics() const;

  /// The device that a handle names, open or not; an error for handles that were never given out.
  Result<ManagedDevice*> device(DeviceHandle handle);

 private:
  Status on_every_device(Status (ManagedDevice::*call)());

  struct State;
  std::unique_ptr<State> m_state;
};

}  // namespace gantry
