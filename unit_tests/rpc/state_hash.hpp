// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

/// Hashes of 64 bits that stand for what they were made of: states are told apart by nothing else.
namespace gantry::exploration {
namespace impl {

inline constexpr std::array<std::uint64_t, 5> keys{0x9e3779b97f4a7c15, 0xd6e8feb86659fd93, 0xa0761d6478bd642f,
                                                   0xe7037ed1a0b428db, 0x8ebc6af09c88c6e3};
inline std::uint64_t multiply(std::uint64_t a, std::uint64_t b) noexcept {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

}  // namespace impl

inline std::uint64_t mix(std::uint64_t hash, std::uint64_t value) noexcept {
  return impl::multiply(hash ^ impl::keys[0], value ^ impl::keys[1]) + (value << 7 | value >> 57) +
         hash * impl::keys[2];
}

/// Of whole lines of 64 bytes.
inline std::uint64_t hash_of(std::span<const std::byte> bytes) noexcept {
  std::array<std::uint64_t, 4> lanes{1, 2, 3, 4};
  std::size_t at = 0;
  for (; at + 64 <= bytes.size(); at += 64) {
    std::array<std::uint64_t, 8> words;
    std::memcpy(words.data(), bytes.data() + at, sizeof(words));
    for (unsigned i = 0; i < 4; ++i)
      lanes[i] = impl::multiply(lanes[i] ^ words[2 * i] ^ impl::keys[i], words[2 * i + 1] ^ impl::keys[i + 1]);
  }
  if (at != bytes.size()) std::abort();
  return mix(mix(lanes[0], lanes[1]), mix(lanes[2], lanes[3]));
}

}  // namespace gantry::exploration
