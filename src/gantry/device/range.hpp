// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/core/kernel.hpp>

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>

namespace gantry {

namespace impl {

/// True when a value of one integral type is one of the other, too.
template <std::integral To, std::integral From>
constexpr bool representable(From value) noexcept {
  const To converted = static_cast<To>(value);
  return static_cast<From>(converted) == value && (converted < To{}) == (value < From{});
}

}  // namespace impl

/// The items of a one-dimensional launch: item k has the index begin + k.
///
/// A domain hands out rows: runs of consecutive values of its innermost index, to be looped over in the type `Index`
/// when all of the run's indices are values of it, else in the domain's own type. `row(first, last, at)` gets a run
/// [first, last), and `at(i, function)` calls `function` with all indices of place i of the run.
template <std::integral Member>
struct Range {
  using member_type = Member;
  static constexpr int rank = 1;

  Member begin{};

  /// The number of items in [begin, end); nothing when they are more than a launch can count (2^63 - 1).
  static constexpr std::optional<std::int64_t> count(Member begin, Member end) noexcept {
    if (end <= begin) return 0;
    const std::uint64_t count = static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(begin);
    if (count > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
    return static_cast<std::int64_t>(count);
  }

  template <std::integral Index, class Row>
  void for_each_row(WorkRange piece, Row&& row) const {
    const auto at = [](auto i, auto&& function) { function(i); };
    const Member first = index(piece.begin);
    const Member last = index(piece.end);
    if constexpr (!std::same_as<Index, Member>) {
      if (impl::representable<Index>(first) && impl::representable<Index>(last)) {
        row(static_cast<Index>(first), static_cast<Index>(last), at);
        return;
      }
    }
    row(first, last, at);
  }

 private:
  Member index(std::int64_t item) const noexcept {
    return static_cast<Member>(static_cast<std::uint64_t>(begin) + static_cast<std::uint64_t>(item));
  }
};

}  // namespace gantry
