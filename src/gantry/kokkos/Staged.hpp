// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/kokkos/Block.hpp>

#include <cstddef>

namespace gantry::impl {

/// A copy, on the device of `exec`, of bytes on another device; lives as long as this object. Errors as copy_now and
/// allocate_block.
class GANTRY_API Staged {
 public:
  Staged(const Offload& exec, const void* from, std::size_t bytes);
  Staged(const Staged&) = delete;
  Staged& operator=(const Staged&) = delete;
  ~Staged();
  [[nodiscard]] void* memory() const noexcept { return m_block.memory; }

 private:
  Staged(const Block& block, std::size_t bytes) noexcept : m_block(block), m_bytes(bytes) {}

  Block m_block;
  std::size_t m_bytes;
};

}  // namespace gantry::impl
