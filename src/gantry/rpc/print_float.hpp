// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/rpc/print_output.hpp>
#include <gantry/rpc/print_spec.hpp>

namespace gantry::rpc {

/// Prints a number as C does for one of the conversions a A e E f F g G, in the C locale whatever the program has set,
/// rounded to nearest. Width and precision are at most 65536 (print_format.hpp).
void print_float(PrintOutput& out, const PrintSpec& spec, double number);
void print_float(PrintOutput& out, const PrintSpec& spec, long double number);

}  // namespace gantry::rpc
