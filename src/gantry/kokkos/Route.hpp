// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/core/gantry.hpp>
#include <gantry/kokkos/Offload.hpp>

namespace gantry::impl {

/// What holds the address; throws Error unless it is memory of an open device, of either kind.
[[nodiscard]] GANTRY_API Allocation allocation_at(const void* memory);

/// The default queue of a device; throws Error when the device was closed since.
[[nodiscard]] GANTRY_API QueueRef queue_of(DeviceHandle device);

/// Where work on some memory has to run so that it runs on the device that owns it: on `exec`, or on the default queue
/// of another device. Pinned memory leaves the choice as it is.
class GANTRY_API Route {
 public:
  /// On another device than exec's, waits for what was launched on `exec` before.
  Route(const Offload& exec, const Allocation& memory);
  [[nodiscard]] const Offload& exec() const noexcept { return m_exec; }
  /// Waits for the work when it was re-routed: what is launched on the caller's instance next must find it done.
  void finish() const;

 private:
  Offload m_exec;
  bool m_rerouted = false;
};

}  // namespace gantry::impl
