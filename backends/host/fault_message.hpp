// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

namespace gantry::host {

/// What a process says when host code touches protected device memory, before it dies of it. The handler of SIGSEGV
/// that says it passes every signal on to the handler before it, and is never taken out.
class FaultMessage {
 public:
  /// Idempotent, any thread.
  static void install();

  /// Ranges whose faults are explained although no allocation holds them; beyond what fits a table, faults are
  /// explained only where the list of live objects knows the address. The name is copied.
  static void add(const void* memory, std::size_t bytes, const char* device_name) noexcept;
  static void remove(const void* memory) noexcept;
};

}  // namespace gantry::host
