// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string_view>

namespace heat {

/// A sign drawn by a pen: strokes separated by a blank, each a list of points, each point two digits, x and y. The
/// baseline is y = 2, digits reach to y = 9.
struct Glyph {
  char sign;
  int width;
  std::string_view strokes;
};

/// The glyph of a sign; a sign without one gives an empty glyph.
[[nodiscard]] const Glyph& glyph(char sign);

}  // namespace heat
