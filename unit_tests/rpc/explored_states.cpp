// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <unit_tests/rpc/explored_states.hpp>

#include <algorithm>

namespace gantry::exploration {

ExploredStates::ExploredStates() : m_slots(std::size_t{1} << 16) {}

std::pair<std::uint32_t, bool> ExploredStates::add(std::uint64_t hash, std::uint32_t parent, Choice by) {
  if (m_parents.size() * 2 > m_slots.size()) grow();
  hash |= 1;
  const std::size_t slot = position(hash);
  if (m_slots[slot].hash == hash) return {m_slots[slot].number, false};
  const auto number = static_cast<std::uint32_t>(m_parents.size());
  m_slots[slot] = {hash, number};
  m_parents.push_back({parent, by});
  return {number, true};
}

std::vector<Choice> ExploredStates::path(std::uint32_t state) const {
  std::vector<Choice> reversed;
  for (; state != 0; state = m_parents[state].state) reversed.push_back(m_parents[state].by);
  return {reversed.rbegin(), reversed.rend()};
}

std::uint32_t ExploredStates::without_an_end() const {
  std::vector<std::uint32_t> first(size() + 1);
  for (const Way& way : m_ways) ++first[way.to];
  std::uint32_t sum = 0;
  for (std::uint32_t& count : first) sum += std::exchange(count, sum);
  std::vector<std::uint32_t> from(m_ways.size());
  for (const Way& way : m_ways) from[first[way.to]++] = way.from;  // first[to] is now where the next one begins
  std::vector<bool> ends(size());
  std::vector<std::uint32_t> left = m_ends;
  for (const std::uint32_t end : m_ends) ends[end] = true;
  while (!left.empty()) {
    const std::uint32_t to = left.back();
    left.pop_back();
    for (std::uint32_t i = to == 0 ? 0 : first[to - 1]; i < first[to]; ++i) {
      if (ends[from[i]]) continue;
      ends[from[i]] = true;
      left.push_back(from[i]);
    }
  }
  const auto found = std::find(ends.begin(), ends.end(), false);
  return found == ends.end() ? nowhere : static_cast<std::uint32_t>(found - ends.begin());
}

std::size_t ExploredStates::position(std::uint64_t hash) const {
  std::size_t slot = (hash >> 1) & (m_slots.size() - 1);
  while (m_slots[slot].hash != 0 && m_slots[slot].hash != hash) slot = (slot + 1) & (m_slots.size() - 1);
  return slot;
}

void ExploredStates::grow() {
  std::vector<Slot> old(m_slots.size() * 2);
  old.swap(m_slots);
  for (const Slot& slot : old)
    if (slot.hash != 0) m_slots[position(slot.hash)] = slot;
}

}  // namespace gantry::exploration
