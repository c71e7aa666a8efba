// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/status.hpp>
#include <gantry/core/call_statistics.hpp>
#include <gantry/core/cpu_set.hpp>
#include <gantry/core/device.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gantry {

/// What the process gives its devices; decided once by the runtime, handed to every open.
struct ProcessResources {
  CpuSet cpus;          ///< CPUs that the process may use, as it was started; at least one
  std::string reason;   ///< where `cpus` comes from ("sched_getaffinity", "OMP_PLACES")
  int num_threads = 0;  ///< worker threads asked for in all; 0: one per CPU
};

/// Whether a backend can be used at all, and why not.
struct Availability {
  bool available = false;
  std::string reason;  ///< a full sentence either way: "libcuda.so.1 was not found"
};

/// A kind of device. One object per process and kind, never destroyed; knows nothing of Kokkos.
/// Thread safety: all functions may be called by any thread.
class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  [[nodiscard]] virtual std::string_view name() const noexcept = 0;

  /// True when its devices may be chosen without being named: the host always, a GPU when the program has device code
  /// for it. A backend that is not a candidate and is not named is never probed.
  [[nodiscard]] virtual bool candidate() const noexcept = 0;

  /// Looks for the driver. A missing driver or device is a reason, never an error. Repeatable; opens no device.
  virtual Availability probe() = 0;

  /// The devices there are, in the driver's order; empty when not available. An error only for settings that do not
  /// parse.
  virtual Result<std::vector<DeviceInfo>> devices(const ProcessResources& resources) = 0;

  /// Fills in what devices() left empty because only people read it and looking it up takes long: model, memory, place.
  virtual void describe(DeviceInfo& info, const ProcessResources& resources) {
    static_cast<void>(info);
    static_cast<void>(resources);
  }

  /// Opens one device: all of it or nothing (a failed open leaves nothing behind and can be tried again).
  virtual Result<std::unique_ptr<Device>> open(const DeviceInfo& info, const ProcessResources& resources) = 0;

  /// What its devices' code has called; all zero where none can.
  [[nodiscard]] virtual CallStatistics call_statistics() const { return {}; }
};

/// The backends that were compiled in, in order of preference; generated, the only place that names them all.
[[nodiscard]] const std::vector<Backend*>& compiled_backends();

}  // namespace gantry
