// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/rpc/protocol.hpp>

#include <bit>

namespace gantry::rpc {

/// The server's half of a port: takes the records in order, answers them, frees their lines. What a record says comes
/// from the device and is checked. Thread safety: none; one thread at a time.
template <class Platform>
class ServerPort {
 public:
  ServerPort(Channel& channel, std::uint32_t number, Platform platform = {}) noexcept
      : m_platform(platform), m_channel(&channel), m_port(&channel.port(number)), m_number(number) {}

  /// A record as it was posted: read once, since the device could change it.
  struct Posted {
    Opcode opcode;
    std::uint32_t lines;
    std::uint32_t bytes;
    std::uint64_t lanes;
    bool wants_answer;
    bool more;
    char* payload;
    bool sound;  ///< false: its lengths contradict each other; only finish() may follow
  };

  [[nodiscard]] std::uint32_t number() const noexcept { return m_number; }
  [[nodiscard]] bool posted() const noexcept {
    return m_platform.load(m_port->record(m_place, m_channel->ring_lines).turn) == posted_turn(m_place);
  }

  /// The next record, if there is one.
  bool next(Posted& found) noexcept {
    while (posted()) {
      Record& record = m_port->record(m_place, m_channel->ring_lines);
      found = {record.opcode,
               record.lines,
               record.bytes,
               record.lanes,
               (record.flags & Record::wants_answer) != 0,
               (record.flags & Record::more) != 0,
               record.payload(),
               true};
      const std::uint32_t to_the_end = m_channel->ring_lines - (m_place & (m_channel->ring_lines - 1));
      if (found.lines == 0 || found.lines > to_the_end) {
        found.lines = lines_to_the_next_record();
        found.sound = false;
        return true;
      }
      if (found.opcode == skip_opcode && !found.wants_answer) {
        m_place += found.lines;
        continue;
      }
      const auto lanes = static_cast<std::uint32_t>(std::popcount(found.lanes));
      found.sound = lanes > 0 && found.bytes % 8 == 0 && record_lines(lanes, found.bytes) <= found.lines;
      return true;
    }
    return false;
  }

  /// Ends the record that next() found; its answer, if it wants one, is what its payload holds now.
  void finish(const Posted& posted, Answer answer) noexcept {
    if (posted.wants_answer) {
      Record& record = m_port->record(m_place, m_channel->ring_lines);
      record.flags = static_cast<std::uint16_t>(answer);
      m_platform.store(record.turn, answered_turn(m_place));
    }
    m_place += posted.lines;
    if (posted.wants_answer) wake_client();
  }

  /// Gives the lines of all finished records back. Everything that they asked for must have been done by now.
  void free_lines() noexcept {
    if (m_freed == m_place) return;
    m_freed = m_place;
    m_platform.store(m_port->server.consumed, m_place);
    wake_client();
  }

  void set_watched(bool watched) noexcept { m_platform.store(m_port->rare.watched, watched ? 1 : 0); }

 private:
  /// Behind a record that does not say: where a record is posted, or where the client goes on.
  [[nodiscard]] std::uint32_t lines_to_the_next_record() const noexcept {
    std::uint32_t end = m_platform.load(m_port->client.next) - m_place;
    if (end == 0 || end > m_channel->ring_lines) end = 1;
    for (std::uint32_t lines = 1; lines < end; ++lines) {
      const std::uint32_t place = m_place + lines;
      if (m_platform.load(m_port->record(place, m_channel->ring_lines).turn) == posted_turn(place)) return lines;
    }
    return end;
  }

  void wake_client() noexcept {
    m_platform.light_fence();  // what it waits for, then `asleep`; the client goes the other way round
    if (m_platform.load(m_port->rare.asleep) != 0) m_platform.signal(m_port->rare.signal);
  }

  Platform m_platform;
  Channel* m_channel;
  Port* m_port;
  std::uint32_t m_number;
  std::uint32_t m_place = 0;
  std::uint32_t m_freed = 0;
};

}  // namespace gantry::rpc
