// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <unit_tests/rpc/explored_choice.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace gantry::exploration {

/// The states that were found, numbered from 0, the first one, and the ways between them.
class ExploredStates {
 public:
  static constexpr std::uint32_t nowhere = ~0U;

  ExploredStates();

  /// The number of the state and whether it is new. If so it was first found by a choice in `parent`.
  std::pair<std::uint32_t, bool> add(std::uint64_t hash, std::uint32_t parent, Choice by);
  void add_way(std::uint32_t from, std::uint32_t to) { m_ways.push_back({from, to}); }
  void add_end(std::uint32_t state) { m_ends.push_back(state); }

  [[nodiscard]] std::size_t size() const noexcept { return m_parents.size(); }
  [[nodiscard]] std::size_t ways() const noexcept { return m_ways.size(); }
  /// What led to a state when it was found.
  [[nodiscard]] std::vector<Choice> path(std::uint32_t state) const;
  /// A state from which no end can be reached, or nowhere.
  [[nodiscard]] std::uint32_t without_an_end() const;

 private:
  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t number = 0;
  };
  struct Parent {
    std::uint32_t state;
    Choice by;
  };
  struct Way {
    std::uint32_t from;
    std::uint32_t to;
  };

  [[nodiscard]] std::size_t position(std::uint64_t hash) const;
  void grow();

  std::vector<Slot> m_slots;
  std::vector<Parent> m_parents;
  std::vector<Way> m_ways;
  std::vector<std::uint32_t> m_ends;
};

}  // namespace gantry::exploration
