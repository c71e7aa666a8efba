// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

namespace gantry::rpc {

/// Payload of allocate_opcode and free_opcode.
struct MemoryMessage {
  std::uint64_t bytes = 0;    ///< asked for
  std::uint64_t address = 0;  ///< given, or to be freed
};

}  // namespace gantry::rpc
