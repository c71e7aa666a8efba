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
    Record head;
    char* payload;
    std::uint32_t count;  ///< of the lanes
    bool sound;           ///< false: its lengths contradict each other; only finish() may follow

    [[nodiscard]] bool wants_answer() const noexcept { return (head.flags & Record::wants_answer) != 0; }
    [[nodiscard]] bool more() const noexcept { return (head.flags & Record::more) != 0; }
  };

  [[nodiscard]] std::uint32_t number() const noexcept { return m_number; }
  [[nodiscard]] bool posted() const noexcept {
    return m_platform.load(m_port->record(m_place, m_channel->ring_lines).turn) == posted_turn(m_place);
  }

  /// The next record, if there is one.
  bool next(Posted& found) noexcept {
    const std::uint32_t ring_lines = m_channel->ring_lines;
    while (posted()) {
      Record& record = m_port->record(m_place, ring_lines);
      const Record& head = found.head = record;
      found.payload = record.payload();
      found.count = count_lanes(head.lanes);
      const std::uint32_t to_the_end = ring_lines - (m_place & (ring_lines - 1));
      if (head.lines == 0 || head.lines > to_the_end) {
        found.sound = false;
        found.head.lines = static_cast<std::uint16_t>(lines_to_the_next_record());
        return true;
      }
      if (head.opcode == skip_opcode && !found.wants_answer()) {
        m_place += head.lines;
        continue;
      }
      prefetch(record, head.lines - (found.wants_answer() ? 1U : 0U));
      found.sound = found.count > 0 && head.bytes % 8 == 0 && record_lines(found.count, head.bytes) <= head.lines;
      return true;
    }
    return false;
  }

  /// Ends the record that next() found; its answer, if it wants one, is what its payload holds now.
  void finish(const Posted& posted, Answer answer) noexcept {
    if (posted.wants_answer()) {
      Record& record = m_port->record(m_place, m_channel->ring_lines);
      record.flags = static_cast<std::uint16_t>(answer);
      m_platform.store(record.turn, answered_turn(m_place));
    }
    m_place += posted.head.lines;
    if (posted.wants_answer()) wake_client();
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
  /// The lines behind a record's first: its own, and the next record's, which may be there while its client does not
  /// wait for an answer. They come while this record is served.
  static void prefetch(Record& record, std::uint32_t lines) noexcept {
    constexpr std::uint32_t most = 4;
    for (std::uint32_t line = 1; line <= lines && line <= most; ++line)
      __builtin_prefetch(reinterpret_cast<char*>(&record) + line * line_bytes);
  }

  /// A single lane is the common case, and popcount a call where the CPU is not known to have the instruction.
  static std::uint32_t count_lanes(std::uint64_t lanes) noexcept {
    return (lanes & (lanes - 1)) == 0 ? std::uint32_t{lanes != 0} : static_cast<std::uint32_t>(std::popcount(lanes));
  }

  /// Behind a record that does not say: where a record is posted, or where the client goes on.
  [[nodiscard]] std::uint32_t lines_to_the_next_record() const noexcept {
    std::uint32_t end = m_platform.load(m_port->client.next) - m_place;
    if (end == 0 || end >= m_channel->ring_lines) end = 1;
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
