// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <bit>
#include <cstddef>

namespace gantry {

/// Block sizes of the memory pool: 128 bytes + p, where p is a multiple of 128 up to 1024 and then has eight steps in
/// each power of two. A View of 2^k bytes, which asks for 128 more, thus fits without waste.
namespace size_class {

inline constexpr std::size_t header = 128;
inline constexpr std::size_t linear_limit = 1024;
inline constexpr std::size_t linear_classes = linear_limit / header + 1;  // p = 0, 128, ... 1024
inline constexpr std::size_t largest_request = std::size_t{1} << 47;      // no address space is larger
inline constexpr std::size_t count = linear_classes + (47 - 10) * 8;

/// Class of a request of at most largest_request bytes.
constexpr std::size_t of(std::size_t bytes) noexcept {
  if (bytes <= header) return 0;
  const std::size_t p = bytes - header;
  if (p <= linear_limit) return (p + header - 1) / header;
  const auto log2 = static_cast<std::size_t>(std::bit_width(p - 1)) - 1;  // 2^log2 < p <= 2^(log2 + 1)
  const std::size_t step = ((p - 1) >> (log2 - 3)) - 8;                   // 0 to 7
  return linear_classes + (log2 - 10) * 8 + step;
}

/// Bytes of the blocks of a class: a multiple of 128.
constexpr std::size_t block_bytes(std::size_t index) noexcept {
  if (index < linear_classes) return header + index * header;
  const std::size_t log2 = 10 + (index - linear_classes) / 8;
  const std::size_t step = (index - linear_classes) % 8;
  return header + ((9 + step) << (log2 - 3));
}

}  // namespace size_class
}  // namespace gantry
