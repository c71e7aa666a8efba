// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/core/kernel.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace gantry::host {

/// Copies and fills are kernels: they run on all threads, in stream order, inline when they are small. Large ones store
/// past the caches.

/// to[0, bytes) = from[0, bytes); runs over blocks.
struct CopyBody {
  char* to;
  const char* from;
  std::uint64_t bytes;
  [[nodiscard]] Launch launch() const noexcept;
  /// Nanoseconds on one thread.
  [[nodiscard]] float estimate() const noexcept { return static_cast<float>(bytes) / 16; }
};
extern const KernelInfo copy_kernel;
/// As copy_kernel, but copying the body copies what `from` points to, so the source may die.
extern const KernelInfo write_kernel;

/// `count` elements of `pattern_bytes` bytes; runs over elements.
struct FillBody {
  char* to;
  const char* pattern;
  std::uint32_t pattern_bytes;
  std::uint64_t count;
  [[nodiscard]] Launch launch() const noexcept;
  [[nodiscard]] float estimate() const noexcept { return static_cast<float>(pattern_bytes * count) / 16; }
};
/// Copying the body copies the pattern.
extern const KernelInfo fill_kernel;

}  // namespace gantry::host
