// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/core/backend.hpp>

namespace gantry::impl {

/// The CPUs that the process was given, and how that is known: the union of the OpenMP places when there are any
/// (libgomp has bound the main thread to one of them before main), else the calling thread's mask.
[[nodiscard]] ProcessResources process_resources();

}  // namespace gantry::impl
