// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/export.hpp>

#include <string>
#include <string_view>

namespace gantry {

/// Text from outside (a setting, a label, a file name) as a message shows it: control characters are written as \x1b,
/// so that none of them breaks a line or drives a terminal. Doing it again changes nothing.
[[nodiscard]] GANTRY_API std::string printable(std::string_view text);

/// The same for a whole message: its line ends stay.
[[nodiscard]] GANTRY_API std::string printable_lines(std::string_view text);

/// printable, in quotes; of a long text the beginning, with "..." after it.
[[nodiscard]] GANTRY_API std::string in_quotes(std::string_view text);

}  // namespace gantry
