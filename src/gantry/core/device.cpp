// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/core/device.hpp>

namespace gantry {

std::string_view memory_kind_name(MemoryKind kind) noexcept {
  switch (kind) {
    case MemoryKind::device: return "device";
    case MemoryKind::pinned: return "pinned";
  }
  return "unknown";
}

}  // namespace gantry
