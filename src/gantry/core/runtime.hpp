// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/core/backend.hpp>
#include <gantry/core/gantry.hpp>

namespace gantry {

/// The process's devices and their life.
///
///     Kokkos::initialize -> kokkos/Offload.cpp -> Runtime::open -> registry -> Backend::open -> the Device
///     and back through Runtime::close in mirrored order -> core/live_objects -> the leak report
///
/// One object, made at first use and never destroyed: destructors of statics may call in at any time.
/// The functions of gantry.hpp are thin forwards to it. Thread safety: all functions, any thread.
class GANTRY_API Runtime {
 public:
  static Runtime& get();

  /// What the process gives its devices and, when a front end has its own switches, which device they ask for. Only
  /// before the device list was first used: `busy` afterwards.
  struct Configuration {
    ProcessResources resources;
  };
  Status configure(Configuration configuration);

  // What else belongs here (devices, open, close, ...) mirrors gantry.hpp.
};

}  // namespace gantry
