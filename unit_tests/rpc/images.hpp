// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/export.hpp>
#include <gantry/core/gantry.hpp>

#include <cstdint>

namespace gantry {

/// Enqueue a kernel whose items each print a line with the image's name and their number. One for each of two shared
/// objects that are made of the same source.
GANTRY_API Status print_from_image_one(const QueueRef& queue, std::int64_t items);
GANTRY_API Status print_from_image_two(const QueueRef& queue, std::int64_t items);

}  // namespace gantry
