// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "problem.hpp"
#include "snapshots.hpp"

#include <string>
#include <vector>

namespace heat {

/// Draws the frames side by side on one colour scale, with lines of equal temperature, and writes them as a PNG.
/// Throws std::runtime_error when the file cannot be written.
void draw_picture(const Problem& problem, const std::vector<Frame>& frames, const std::string& path);

}  // namespace heat
