// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <unit_tests/rpc/exploration.hpp>
#include <unit_tests/rpc/explored_choice.hpp>
#include <unit_tests/rpc/explored_program.hpp>
#include <unit_tests/rpc/explored_states.hpp>
#include <unit_tests/rpc/tso_machine.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace gantry::exploration {

/// One search through all the states of a program.
class ExplorationRun {
 public:
  ExplorationRun(Program& program, const Rules& rules) : m_rules(rules), m_machine(program, rules) {}

  Outcome explore();

 private:
  /// A state on the way of depth_first.
  struct Frame {
    std::uint32_t state;
    std::vector<Choice> left;
    std::vector<std::byte> saved;
  };

  /// A wrong state, or nowhere.
  std::uint32_t depth_first();
  std::uint32_t breadth_first();
  /// After a step from `state`. Whether it leads to a new state, and that state.
  std::pair<std::uint32_t, bool> arrive(std::uint32_t state, Choice by);
  /// In a new state: whether it is wrong.
  bool wrong(std::uint32_t number);
  void tell(std::uint32_t state, bool endless);

  Rules m_rules;
  TsoMachine m_machine;
  ExploredStates m_states;
  std::vector<Choice> m_choices;
  Outcome m_outcome;
};

}  // namespace gantry::exploration
