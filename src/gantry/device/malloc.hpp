// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/device/call.hpp>
#include <gantry/rpc/memory_message.hpp>

#include <cstddef>
#include <cstdint>

namespace gantry {

/// Device memory, from a kernel: at least 128-byte aligned, contents undefined; null when there is none, and after the
/// device was aborted. It outlives the kernel, can be copied from and freed (gantry::deallocate) by the host, and is in
/// the leak report, as "malloc in a kernel", until somebody frees it. 0 bytes: a unique address. Only in kernels and
/// host functions.
inline void* malloc(std::size_t bytes) {
  rpc::MemoryMessage message{bytes, 0};
  if (impl::call_host(rpc::allocate_opcode, message) != rpc::Answer::ok) return nullptr;
  return reinterpret_cast<void*>(message.address);
}

/// Gives memory of malloc, or any other of this device, back, at once. An address that is not to be freed is logged and
/// changes nothing. Null does nothing.
inline void free(void* memory) {
  if (memory == nullptr) return;
  rpc::MemoryMessage message{0, reinterpret_cast<std::uint64_t>(memory)};
  static_cast<void>(impl::call_host(rpc::free_opcode, message));
}

}  // namespace gantry
