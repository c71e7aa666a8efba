// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "problem.hpp"

#include <optional>

namespace heat {

/// What the command line asks for.
struct Options {
  Problem problem;
  bool json = false;  ///< one line of JSON on stdout, everything else on stderr
};

/// Reads the command line and the input file that it names; options override the file. Empty after --help. Throws
/// InputError.
[[nodiscard]] std::optional<Options> parse_options(int argc, char** argv);

}  // namespace heat
