// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/export.hpp>

namespace gantry {

/// Whether membarrier() works here. Registers the process with the kernel at its first call: best while it has one
/// thread, since the kernel waits for all of them otherwise. Thread safety: any thread.
[[nodiscard]] GANTRY_API bool membarrier_available() noexcept;

/// Every other running thread of the process passes a full fence before this returns: what a rarely taken path does so
/// that the frequent one needs no fence. Some microseconds, and an interrupt for each CPU that runs a thread of the
/// process. Only where it is available. Thread safety: any thread. Source: Linux, membarrier(2), private expedited.
GANTRY_API void membarrier() noexcept;

}  // namespace gantry
