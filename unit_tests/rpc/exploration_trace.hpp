// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <unit_tests/rpc/explored_choice.hpp>
#include <unit_tests/rpc/tso_machine.hpp>

#include <string>
#include <vector>

namespace gantry::exploration {

/// Runs a machine from its first state on, by the choices of a path: a line for each, and one for what each thread does
/// in the end.
[[nodiscard]] std::string trace(TsoMachine& machine, const std::vector<Choice>& path);

}  // namespace gantry::exploration
