// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <unit_tests/rpc/exploration_run.hpp>

#include <unit_tests/rpc/exploration_trace.hpp>
#include <unit_tests/rpc/state_hash.hpp>

#include <algorithm>
#include <chrono>
#include <deque>

namespace gantry::exploration {

Outcome ExplorationRun::explore() {
  const auto begun = std::chrono::steady_clock::now();
  m_machine.restart();
  m_states.add(m_machine.hash(), 0, 0);
  const std::uint32_t bad = m_rules.shortest ? breadth_first() : depth_first();
  std::uint32_t told = bad;
  if (bad == ExploredStates::nowhere && m_outcome.complete) told = m_states.without_an_end();
  if (told != ExploredStates::nowhere) tell(told, bad == ExploredStates::nowhere);
  m_outcome.states = m_states.size();
  m_outcome.transitions = m_states.ways();
  m_outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  return m_outcome;
}

std::uint32_t ExplorationRun::depth_first() {
  std::deque<Frame> frames;
  std::size_t depth = 0;  // of the frames that are in use; the rest keep their memory for others
  const auto push = [&](std::uint32_t state) {
    if (depth == frames.size()) frames.emplace_back();
    Frame& frame = frames[depth++];
    frame.state = state;
    frame.left.assign(m_choices.rbegin(), m_choices.rend());
    if (frame.left.size() > 1) m_machine.save(frame.saved);
  };
  m_machine.enabled(m_choices);
  push(0);
  bool here = true;  // whether the program is in the state of the last frame
  while (depth != 0) {
    Frame& frame = frames[depth - 1];
    if (frame.left.empty()) {
      --depth;
      here = false;
      continue;
    }
    if (!here) m_machine.restore(frame.saved);
    const Choice by = frame.left.back();
    frame.left.pop_back();
    m_machine.take(by);
    const auto [number, fresh] = arrive(frame.state, by);
    here = false;
    if (!fresh) continue;
    if (wrong(number)) return number;
    if (m_states.size() >= m_rules.most_states) return ExploredStates::nowhere;
    push(number);
    here = true;
  }
  m_outcome.complete = true;
  return ExploredStates::nowhere;
}

std::uint32_t ExplorationRun::breadth_first() {
  std::vector<Choice> choices;
  for (std::uint32_t state = 0; state < m_states.size(); ++state) {
    const std::vector<Choice> path = m_states.path(state);
    const auto go = [&] {
      m_machine.restart();
      for (const Choice by : path) m_machine.take(by);
    };
    go();
    m_machine.enabled(choices);
    for (std::size_t i = 0; i < choices.size(); ++i) {
      if (i != 0) go();
      m_machine.take(choices[i]);
      const auto [number, fresh] = arrive(state, choices[i]);
      if (fresh && wrong(number)) return number;
    }
    if (m_states.size() >= m_rules.most_states) return ExploredStates::nowhere;
  }
  m_outcome.complete = true;
  return ExploredStates::nowhere;
}

std::pair<std::uint32_t, bool> ExplorationRun::arrive(std::uint32_t state, Choice by) {
  const auto [number, fresh] = m_states.add(mix(m_machine.hash(), m_machine.failure().size()), state, by);
  // An end of a sleep for no reason is no way on.
  if (variant_of(by) != idle) m_states.add_way(state, number);
  if (fresh) m_machine.enabled(m_choices);
  return {number, fresh};
}

bool ExplorationRun::wrong(std::uint32_t number) {
  if (!m_machine.failure().empty()) return true;
  if (std::any_of(m_choices.begin(), m_choices.end(), [](Choice by) { return variant_of(by) != idle; })) return false;
  if (!m_machine.program().wrong_end().empty()) return true;
  m_states.add_end(number);
  return false;
}

void ExplorationRun::tell(std::uint32_t state, bool endless) {
  const std::vector<Choice> path = m_states.path(state);
  const std::string steps = trace(m_machine, path);
  std::string what = endless ? "no end can be reached from here" : m_machine.failure();
  if (what.empty()) what = m_machine.program().wrong_end();
  m_outcome.error = what + ", after:\n" + steps;
  m_outcome.steps_to_error = path.size();
  m_outcome.complete = false;
}

}  // namespace gantry::exploration
