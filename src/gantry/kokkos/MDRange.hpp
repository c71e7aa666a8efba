// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/device/tiles.hpp>
#include <gantry/kokkos/Launch.hpp>
#include <gantry/kokkos/Offload.hpp>
#include <gantry/kokkos/policies.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

/// The fastest index follows the default layout.
template <>
struct Kokkos::default_outer_direction<gantry::Offload> {
  using type = Kokkos::Iterate;
  static constexpr Kokkos::Iterate value =
      Kokkos::Impl::layout_iterate_type_selector<gantry::Offload::array_layout>::outer_iteration_pattern;
};
template <>
struct Kokkos::default_inner_direction<gantry::Offload> {
  using type = Kokkos::Iterate;
  static constexpr Kokkos::Iterate value =
      Kokkos::Impl::layout_iterate_type_selector<gantry::Offload::array_layout>::inner_iteration_pattern;
};

/// Tiles that are long in the fastest index and about a sixteenth of a thread's share: few enough not to cost, enough
/// to be spread evenly.
template <>
struct Kokkos::Impl::TileSizeRecommended<gantry::Offload> {
  template <class Policy>
  static auto get(const Policy& policy) {
    constexpr int rank = Policy::rank;
    constexpr std::int64_t smallest = 256;
    std::int64_t volume = 1;
    for (int d = 0; d < rank; ++d) {
      const std::int64_t extent = std::max<std::int64_t>(policy.m_upper[d] - policy.m_lower[d], 1);
      volume = volume > std::numeric_limits<std::int64_t>::max() / extent ? std::numeric_limits<std::int64_t>::max()
                                                                          : volume * extent;
    }
    std::int64_t left = std::max(volume / (16 * std::max(policy.space().concurrency(), 1)), smallest);
    left = std::min<std::int64_t>(left, std::max<std::int64_t>(policy.max_total_tile_size(), 1));
    Kokkos::Array<std::int64_t, rank> tile{};
    for (int place = 0; place < rank; ++place) {
      const int d = Policy::inner_direction == Kokkos::Iterate::Left ? place : rank - 1 - place;
      const std::int64_t extent = std::max<std::int64_t>(policy.m_upper[d] - policy.m_lower[d], 1);
      tile[d] = std::min(extent, left);
      left = std::max<std::int64_t>(left / tile[d], 1);
    }
    return tile;
  }
};

namespace gantry::impl {

template <class Policy>
using TilesOf = Tiles<typename Policy::index_type, Policy::rank,
                      Policy::outer_direction == Kokkos::Iterate::Left ? Fastest::first : Fastest::last,
                      Policy::inner_direction == Kokkos::Iterate::Left ? Fastest::first : Fastest::last>;

/// The numbers of an MDRangePolicy.
template <class Policy>
TilesOf<Policy> tiles_of(const Policy& policy) {
  TilesOf<Policy> tiles;
  for (int d = 0; d < Policy::rank; ++d) {
    using Index = typename Policy::index_type;
    tiles.lower[d] = static_cast<Index>(policy.m_lower[d]);
    tiles.upper[d] = static_cast<Index>(policy.m_upper[d]);
    const std::uint64_t extent =
        static_cast<std::uint64_t>(policy.m_upper[d]) - static_cast<std::uint64_t>(policy.m_lower[d]);
    tiles.tile[d] = policy.m_tile[d];
    tiles.tiles[d] = static_cast<std::int64_t>(extent / static_cast<std::uint64_t>(tiles.tile[d]) +
                                               (extent % static_cast<std::uint64_t>(tiles.tile[d]) != 0));
  }
  return tiles;
}

/// The number of tiles; throws Error (invalid_argument) when a launch cannot count them.
template <class Tiles>
std::int64_t count_tiles(const Tiles& tiles, const char* pattern) {
  std::int64_t count = 1;
  for (const std::int64_t side : tiles.tiles) {
    if (__builtin_mul_overflow(count, side, &count)) [[unlikely]] {
      throw_error(Status::error(Code::invalid_argument, "the policy has more than 2^63 - 1 tiles; split it"), pattern);
    }
  }
  return count;
}

}  // namespace gantry::impl
