// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <unit_tests/rpc/modelled_channel.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

namespace gantry::rpc::model {

void ModelledChannel::Sent::remove_first() {
  std::copy(ids.begin() + 1, ids.end(), ids.begin());
  ids.back() = 0;
  --count;
}

ModelledChannel::ModelledChannel(unsigned idle_ports)
    : m_idle_ports(idle_ports), m_memory(idle_bytes() + sizeof(Shared) + line_bytes) {
  void* begin = m_memory.data();
  std::size_t space = m_memory.size();
  m_idle = static_cast<std::byte*>(std::align(line_bytes, idle_bytes() + sizeof(Shared), begin, space));
  m_shared = ::new (m_idle + idle_bytes()) Shared;
  set_up();
}

void ModelledChannel::reset() {
  std::memset(m_memory.data(), 0, m_memory.size());
  set_up();
}

void ModelledChannel::set_up() {
  Channel& channel = m_shared->channel;
  channel.ports = m_idle_ports + used_ports;
  channel.ring_lines = ring_lines;
  channel.port_stride = sizeof(PortMemory);
  channel.first = reinterpret_cast<Port*>(m_idle);
  channel.bells = m_shared->bells.data();
  channel.summary = m_shared->summary.data();
  channel.asleep = &m_shared->asleep;
}

std::string ModelledChannel::word_name(const Word& word) const {
  const auto within = [&](const auto& what) { return &word - reinterpret_cast<const Word*>(&what); };
  if (&word == &m_shared->asleep) return "asleep";
  if (&word == &m_shared->channel.aborted) return "aborted";
  if (&word == &m_shared->channel.used) return "used";
  if (&word == &m_shared->channel.rung) return "rung";
  for (unsigned i = 0; i < used_ports; ++i) {
    if (&word == &m_shared->bells[number(i)]) return fmt::format("bell {}", i);
    if (&word == &m_shared->summary[i]) return "summary";
    const Port& used = port(i);
    if (&word == &used.client.lock) return fmt::format("port {} lock", i);
    if (&word == &used.server.consumed) return fmt::format("port {} consumed", i);
    if (&word == &used.rare.watched) return fmt::format("port {} watched", i);
    if (&word == &used.rare.asleep) return fmt::format("port {} asleep", i);
    if (&word == &used.rare.signal) return fmt::format("port {} signal", i);
    const auto line = within(m_shared->ports[i].ring) * std::ptrdiff_t{sizeof(Word)};
    if (line >= 0 && line < std::ptrdiff_t{sizeof(m_shared->ports[i].ring)})
      return fmt::format("port {} line {} turn", i, line / line_bytes);
  }
  return "?";
}

}  // namespace gantry::rpc::model
