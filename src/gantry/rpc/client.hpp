// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/rpc/protocol.hpp>

namespace gantry::rpc {

// clang-format off
/// The device's half of a port, open for as long as it lives: writes records into the ring and waits for answers.
///
/// All lanes that call together make one Client of it, in step from before it is made until it has ended; each passes its
/// own payload. A Platform, copied into it, says what the lanes are, how to reach the words of the channel, how to wait
/// (of these a server needs load, store and the fences, and exchange(word, v) and signal(word), which wakes the client):
///
///     lanes(), count(), lane()      the mask of the lanes that call; how many; the caller's number among them
///     leads()                       true in one of them
///     sync()                        every lane has come here and sees what the others wrote
///     broadcast(v), max(v)          of the leader; of all lanes
///     load, store                   acquire and release, of a word that the other side writes or reads
///     take(word)                    sets a lock's word, true when it was 0 or no other client can have the port
///     light_fence(), heavy_fence()  as base/asymmetric_fence
///     wait(polls)                   one step of waiting, false when it is time to sleep
///     sleep(word, value, channel)   sleeps while the word has the value, or wakes for no reason
///     wake(channel)                 wakes the server
///
/// Thread safety: any number of clients may open a port; one has it, the others wait. What one client sends through a
/// port is served in order.
// clang-format on
template <class Platform>
class Client {
 public:
  GANTRY_DEVICE_FUNCTION Client(Channel& channel, std::uint32_t port, Platform platform = {}) noexcept
      : m_platform(platform), m_channel(channel), m_port(channel.port(port)), m_number(port) {
    if (m_platform.leads()) {
      for (std::uint32_t polls = 0; !m_platform.take(m_port.client.lock); ++polls)
        if (!m_platform.wait(polls)) polls = 0;
    }
    m_platform.sync();
  }
  GANTRY_DEVICE_FUNCTION ~Client() {
    m_platform.sync();
    if (m_platform.leads()) m_platform.store(m_port.client.lock, 0);
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Most bytes of a lane's payload in one record.
  [[nodiscard]] GANTRY_DEVICE_FUNCTION std::uint32_t max_payload() const noexcept {
    return m_channel.max_payload(m_platform.count());
  }

  /// Sends a record and does not wait for what it asks for. `write(char*)` writes the caller's payload: `bytes` at
  /// most, the same number for all lanes, a multiple of 8. False, nothing was sent: aborted, or more than
  /// max_payload().
  template <class Write>
  GANTRY_DEVICE_FUNCTION bool post(Opcode opcode, std::uint32_t bytes, Write&& write,
                                   std::uint16_t flags = 0) noexcept {
    if (bytes > max_payload()) return false;
    Place place;
    return send(opcode, bytes, flags, write, place);
  }

  /// As post, for a payload of any length, its own in each lane: in as many records as it takes, padded.
  GANTRY_DEVICE_FUNCTION bool post_bytes(Opcode opcode, const char* data, std::uint32_t bytes) noexcept {
    const std::uint32_t longest = m_platform.max(bytes);
    const std::uint32_t limit = max_payload();
    for (std::uint32_t offset = 0;;) {
      const std::uint32_t left = longest - offset;
      const std::uint32_t room = left > limit ? limit : (left + 7U) & ~7U;
      const bool last = left <= limit;
      const auto write = [&](char* to) {
        const std::uint32_t mine = offset < bytes ? bytes - offset : 0;
        const std::uint32_t length = mine < room ? mine : room;
        if (length != 0) __builtin_memcpy(to, data + offset, length);
        __builtin_memset(to + length, 0, room - length);
      };
      if (!post(opcode, room, write, last ? 0 : Record::more)) return false;
      if (last) return true;
      offset += limit;
    }
  }

  /// As post, then waits for the answer and, when that is ok, calls `read(const char*)` with the caller's payload, as
  /// the handler has left it.
  template <class Write, class Read>
  GANTRY_DEVICE_FUNCTION Answer call(Opcode opcode, std::uint32_t bytes, Write&& write, Read&& read) noexcept {
    if (bytes > max_payload()) return Answer::refused;
    Place place;
    if (!send(opcode, bytes, Record::wants_answer, write, place)) return Answer::aborted;
    Record& record = m_port.record(place, m_channel.ring_lines);
    std::uint32_t came = 0;
    if (m_platform.leads())
      came = wait_until([&] { return m_platform.load(record.turn) == answered_turn(place); }) ? 1 : 0;
    came = m_platform.broadcast(came);
    m_platform.sync();
    if (came == 0) return Answer::aborted;
    const auto answer = static_cast<Answer>(record.flags);
    if (answer == Answer::ok) read(static_cast<const char*>(record.payload() + offset_of_lane(bytes)));
    return answer;
  }

 private:
  using Place = std::uint32_t;

  GANTRY_DEVICE_FUNCTION std::size_t offset_of_lane(std::uint32_t bytes) const noexcept {
    return std::size_t{m_platform.lane()} * bytes;
  }

  template <class Write>
  GANTRY_DEVICE_FUNCTION bool send(Opcode opcode, std::uint32_t bytes, std::uint16_t flags, Write&& write,
                                   Place& place) noexcept {
    std::uint32_t begun = 0;
    if (m_platform.leads()) begun = begin(opcode, bytes, flags) ? 1 : 0;
    if (m_platform.broadcast(begun) == 0) return false;
    place = m_platform.broadcast(m_port.client.next);
    Record& record = m_port.record(place, m_channel.ring_lines);
    write(record.payload() + offset_of_lane(bytes));
    m_platform.sync();
    if (m_platform.leads()) {
      publish(record, place);
      ring();
    }
    return true;
  }

  /// Finds room and writes the head of the record at client.next.
  GANTRY_DEVICE_FUNCTION bool begin(Opcode opcode, std::uint32_t bytes, std::uint16_t flags) noexcept {
    const auto lines = static_cast<std::uint32_t>(record_lines(m_platform.count(), bytes));
    const std::uint32_t to_the_end = m_channel.ring_lines - (m_port.client.next & (m_channel.ring_lines - 1));
    const std::uint32_t skipped = lines > to_the_end ? to_the_end : 0;
    // One line more, since write_head() may touch the line behind the record.
    if (!make_room(skipped + lines + 1)) {
      m_platform.store(m_port.client.dropped, m_port.client.dropped + 1);  // the server may be counting
      return false;
    }
    if (skipped != 0) publish(write_head(skip_opcode, skipped, 0, 0, 0), m_port.client.next);
    write_head(opcode, lines, flags, bytes, m_platform.lanes());
    return true;
  }

  /// What the next record's turn will be is cleared first, where it may be payload.
  GANTRY_DEVICE_FUNCTION Record& write_head(Opcode opcode, std::uint32_t lines, std::uint16_t flags,
                                            std::uint32_t bytes, std::uint64_t lanes) noexcept {
    const Place end = m_port.client.next + lines;
    if (static_cast<std::int32_t>(end - m_channel.ring_lines - m_port.client.long_end) < 0)
      m_platform.store(m_port.record(end, m_channel.ring_lines).turn, 0);
    if (lines > 1) m_port.client.long_end = end;
    Record& record = m_port.record(m_port.client.next, m_channel.ring_lines);
    record.opcode = opcode;
    record.lines = static_cast<std::uint16_t>(lines);
    record.flags = flags;
    record.bytes = bytes;
    record.lanes = lanes;
    return record;
  }

  /// Hands the record over.
  GANTRY_DEVICE_FUNCTION void publish(Record& record, Place place) noexcept {
    m_platform.store(m_port.client.next, place + record.lines);
    m_platform.store(record.turn, posted_turn(place));
  }

  GANTRY_DEVICE_FUNCTION void ring() noexcept {
    m_platform.light_fence();  // turn, then `watched`; the server goes the other way round (rpc/watch_list)
    if (m_platform.load(m_port.rare.watched) != 0) return;
    m_platform.store(m_channel.used, 1);
    m_platform.store(m_channel.bells[m_number], 1);
    m_platform.store(m_channel.summary[m_number / group_ports], 1);
    m_platform.store(m_channel.rung, 1);
    m_platform.light_fence();  // the bell, then `asleep`; the server goes the other way round
    if (m_platform.load(*m_channel.asleep) != 0) m_platform.wake(m_channel);
  }

  GANTRY_DEVICE_FUNCTION bool make_room(std::uint32_t lines) noexcept {
    if (m_platform.load(m_channel.aborted) != 0) return false;
    const auto fits = [this, lines] {
      return m_port.client.next - m_port.client.consumed + lines <= m_channel.ring_lines;
    };
    if (fits()) return true;
    return wait_until([this, fits] {
      m_port.client.consumed = m_platform.load(m_port.server.consumed);
      return fits();
    });
  }

  /// False: aborted first. Not inlined: it would burden the calls that need not wait.
  template <class Ready>
  __attribute__((noinline)) GANTRY_DEVICE_FUNCTION bool wait_until(Ready&& ready) noexcept {
    for (std::uint32_t polls = 0;; ++polls) {
      if (ready()) return true;
      if (m_platform.load(m_channel.aborted) != 0) return ready();
      if (m_platform.wait(polls)) continue;
      const std::uint32_t signal = m_platform.load(m_port.rare.signal);
      m_platform.store(m_port.rare.asleep, 1);
      m_platform.heavy_fence();  // `asleep`, then what it waits for; the server goes the other way round
      if (!ready() && m_platform.load(m_channel.aborted) == 0) m_platform.sleep(m_port.rare.signal, signal, m_channel);
      m_platform.store(m_port.rare.asleep, 0);
    }
  }

  Platform m_platform;
  Channel& m_channel;
  Port& m_port;
  std::uint32_t m_number;
};

}  // namespace gantry::rpc
