// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "images.hpp"

#include <gantry/device/launch.hpp>
#include <gantry/device/printf.hpp>

namespace gantry {

Status PRINT_FROM_IMAGE(const QueueRef& queue, std::int64_t items) {
  return parallel_for(queue, items, [](std::int64_t i) { gantry::printf("%s %ld\n", IMAGE_NAME, i); });
}

}  // namespace gantry
