// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <backends/host/lanes.hpp>
#include <backends/host/stream.hpp>

#include <algorithm>

namespace gantry::host {

Lanes::Lanes(int slots) {
  constexpr int fewest = 4;
  const int count = std::clamp(slots, fewest, 64);
  for (int i = 0; i < count; ++i) m_lanes.push_back(std::make_unique<Lane>(slots));
}

Lane* Lanes::bind(Stream& stream) {
  const std::lock_guard lock(m_mutex);
  const std::uint32_t bound = m_bound.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < bound; ++i) {
    if (m_lanes[i]->tenant == nullptr) {
      m_lanes[i]->tenant = &stream;
      return m_lanes[i].get();
    }
  }
  if (bound < size()) {
    m_lanes[bound]->tenant = &stream;
    m_bound.store(bound + 1, std::memory_order_release);
    return m_lanes[bound].get();
  }
  for (auto& lane : m_lanes) {
    if (lane->tenant->give_up_lane()) {
      lane->tenant = &stream;
      return lane.get();
    }
  }
  return nullptr;
}

void Lanes::unbind(Stream& stream) noexcept {
  const std::lock_guard lock(m_mutex);
  for (auto& lane : m_lanes) {
    if (lane->tenant == &stream) lane->tenant = nullptr;
  }
}

}  // namespace gantry::host
