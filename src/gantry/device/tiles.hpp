// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/core/kernel.hpp>
#include <gantry/device/range.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace gantry {

/// Which index runs fastest.
enum class Fastest : std::uint8_t { first, last };

/// The items of a multi-dimensional launch are tiles of a box; the unit of work is a tile. Rows (see Range) are the
/// runs of the fastest index within a tile.
template <std::integral Member, int Rank, Fastest Outer, Fastest Inner>
struct Tiles {
  using member_type = Member;
  static constexpr int rank = Rank;

  Member lower[Rank]{};
  Member upper[Rank]{};
  std::int64_t tile[Rank]{};   ///< indices along each side of a tile, at least 1
  std::int64_t tiles[Rank]{};  ///< tiles along each side of the box

  template <std::integral Index, class Row>
  void for_each_row(WorkRange piece, Row&& row) const {
    if constexpr (!std::same_as<Index, Member>) {
      if (bounds_are<Index>()) {
        for_each_tile<Index>(piece, row);
        return;
      }
    }
    for_each_tile<Member>(piece, row);
  }

 private:
  template <class Index>
  struct Box {
    Index first[Rank];
    Index last[Rank];
  };

  template <class Index>
  bool bounds_are() const noexcept {
    for (int d = 0; d < Rank; ++d) {
      if (!impl::representable<Index>(lower[d]) || !impl::representable<Index>(upper[d])) return false;
    }
    return true;
  }

  template <class Index, class Row>
  void for_each_tile(WorkRange piece, Row& row) const {
    for (std::int64_t number = piece.begin; number < piece.end; ++number) {
      rows<Index>(box<Index>(number), row);
    }
  }

  template <class Index>
  Box<Index> box(std::int64_t number) const noexcept {
    Box<Index> box;
    for (int place = 0; place < Rank; ++place) {
      const int d = Outer == Fastest::first ? place : Rank - 1 - place;
      // Differences and sums of the bounds are taken without a sign: they must not overflow at the limits of Member.
      const std::uint64_t begin = static_cast<std::uint64_t>(lower[d]);
      const std::uint64_t offset = static_cast<std::uint64_t>(number % tiles[d]) * static_cast<std::uint64_t>(tile[d]);
      const std::uint64_t left = static_cast<std::uint64_t>(upper[d]) - begin - offset;
      const std::uint64_t size =
          static_cast<std::uint64_t>(tile[d]) < left ? static_cast<std::uint64_t>(tile[d]) : left;
      box.first[d] = static_cast<Index>(begin + offset);
      box.last[d] = static_cast<Index>(begin + offset + size);
      number /= tiles[d];
    }
    return box;
  }

  template <class Index, class Row, class... Outermost>
  static void rows(const Box<Index>& box, Row& row, Outermost... outer) {
    constexpr int place = sizeof...(Outermost);
    constexpr int d = Inner == Fastest::first ? Rank - 1 - place : place;
    const Index first = box.first[d];
    const Index last = box.last[d];
    if constexpr (place == Rank - 1) {
      row(first, last, [=](auto i, auto&& function) {
        if constexpr (Inner == Fastest::first) {
          function(i, outer...);
        } else {
          function(outer..., i);
        }
      });
    } else {
      for (Index i = first; i < last; ++i) {
        if constexpr (Inner == Fastest::first) {
          rows<Index>(box, row, i, outer...);
        } else {
          rows<Index>(box, row, outer..., i);
        }
      }
    }
  }
};

}  // namespace gantry
