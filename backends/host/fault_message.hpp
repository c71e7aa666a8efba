// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string_view>

namespace gantry::host {

/// What a process says before it dies of a SIGSEGV: of a kernel, which kernel and device; of host code, or a kernel of
/// another device, that touches protected memory, whose memory.
/// The handler of SIGSEGV that says it passes every signal on to the handler before it, and is never taken out.
/// Thread safety: all functions, any thread.
class FaultMessage {
 public:
  /// Idempotent.
  static void install();

  /// The memory whose faults are explained, whether an allocation holds it or not.
  static void add(const void* memory, std::size_t bytes, std::string_view device_name);
  static void remove(const void* memory) noexcept;
};

}  // namespace gantry::host
