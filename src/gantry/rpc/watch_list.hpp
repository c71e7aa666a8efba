// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/rpc/port.hpp>

#include <cstddef>
#include <vector>

namespace gantry::rpc {

/// Which ports of a channel a server looks at: those that it watches, whose clients need not ring, and those whose bell
/// has rung since. A port that rang is watched until the server sleeps, while there is room on the list, so that a
/// client in conversation costs neither side more than its ring. The time of a pass does not depend on how many ports
/// there are. Thread safety: none; one thread at a time.
template <class Platform>
class WatchList {
 public:
  explicit WatchList(Channel& channel, Platform platform = {}) : m_platform(platform), m_channel(channel) {
    m_ports.reserve(channel.ports);
    for (std::uint32_t i = 0; i < channel.ports; ++i) m_ports.emplace_back(channel, i, platform);
  }

  /// Calls visit(ServerPort&) -> bool, which says whether it found anything, for each port that may have a record. True
  /// when one had. A pass begins behind where the one before began, so that no port comes first always.
  template <class Visit>
  bool pass(Visit&& visit) {
    bool found = false;
    const std::size_t watched = m_watched.size();
    if (watched != 0) m_first = (m_first + 1) % watched;
    for (std::size_t i = 0; i < watched; ++i) {
      ServerPort<Platform>& port = *m_watched[m_first + i < watched ? m_first + i : m_first + i - watched];
      if (port.posted()) found |= visit(port);
    }
    if (hear(m_channel.rung)) {
      for (std::uint32_t group = 0; group * group_ports < m_channel.ports; ++group)
        if (hear(m_channel.summary[group])) found |= answer_bells(group, visit);
    }
    return found;
  }

  /// Before the server sleeps: no port is watched any more. After that a heavy fence, then anything().
  void unwatch() noexcept {
    for (ServerPort<Platform>* port : m_watched) port->set_watched(false);
  }
  /// Whether there is anything that no bell will tell of, or that a bell has told of. If so the next pass() finds it;
  /// if not the list is empty.
  bool anything() noexcept {
    bool found = m_platform.load(m_channel.rung) != 0;
    for (ServerPort<Platform>* port : m_watched) found |= port->posted();
    if (found) {
      for (ServerPort<Platform>* port : m_watched) port->set_watched(true);
    } else {
      m_watched.clear();
    }
    return found;
  }

  [[nodiscard]] std::vector<ServerPort<Platform>>& ports() noexcept { return m_ports; }

 private:
  static constexpr std::size_t most_watched = 64;

  /// Whether a word was written 1. The exchange reads what the last ring wrote, or a later ring follows: either way no
  /// record is missed.
  bool hear(std::uint32_t& word) {
    if (m_platform.load(word) == 0) return false;
    m_platform.exchange(word, 0);
    return true;
  }

  template <class Visit>
  bool answer_bells(std::uint32_t group, Visit&& visit) {
    bool found = false;
    const std::uint32_t begin = group * group_ports;
    const std::uint32_t end = begin + group_ports < m_channel.ports ? begin + group_ports : m_channel.ports;
    for (std::uint32_t number = begin; number < end; ++number) {
      if (!hear(m_channel.bells[number])) continue;
      ServerPort<Platform>& port = m_ports[number];
      const bool watched = watch(port);
      found |= visit(port);
      if (!watched && port.posted()) {  // the visit left some: as if their bell had not been heard yet
        m_platform.store(m_channel.bells[number], 1);
        m_platform.store(m_channel.summary[group], 1);
        m_platform.store(m_channel.rung, 1);
      }
    }
    return found;
  }

  /// False when there is no room.
  bool watch(ServerPort<Platform>& port) {
    for (const ServerPort<Platform>* already : m_watched)
      if (already == &port) return true;
    if (m_watched.size() == most_watched) return false;
    m_watched.push_back(&port);
    port.set_watched(true);
    return true;
  }

  Platform m_platform;
  Channel& m_channel;
  std::vector<ServerPort<Platform>> m_ports;
  std::vector<ServerPort<Platform>*> m_watched;
  std::size_t m_first = 0;
};

}  // namespace gantry::rpc
