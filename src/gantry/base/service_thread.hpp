// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/status.hpp>

#include <functional>
#include <string>
#include <thread>

namespace gantry {

/// Starts a thread that leaves signals to the program's own threads, as all that it starts will; but not those that
/// tell of a fault of the thread itself. `what` it is, for the error.
Status start_service_thread(std::thread& thread, const std::string& what, std::function<void()> main);

}  // namespace gantry
