// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/rpc/device_function.hpp>

#include <cstddef>
#include <cstdint>

/// Remote procedure calls: code that runs on a device calls the host.
///
///     device/printf -> rpc/client writes a record into its port's ring and rings -> rpc/server finds it
///     (rpc/watch_list, rpc/port) -> rpc/endpoint calls the handler -> the answer, in the record -> the client reads it
///
/// This file is the memory that the two sides share: plain words, each written with a release store by the side that
/// owns it at that moment and read with an acquire load; a device makes no read-modify-write but on its own lock. It is
/// compiled by every compiler of every side and must be laid out alike. Who may write what, when, is said here; the
/// code is client.hpp and port.hpp.
///
/// The algebra is that of LLVM's GPU libc (libc/shared/rpc.h): a port is opened, its buffer passes from side to side,
/// and whose turn it is follows from a word. A port here is a ring of lines, so that a client may be several calls
/// ahead, and the turn stands in the record itself, so that an empty call moves one cache line each way.
namespace gantry::rpc {

inline constexpr std::uint32_t line_bytes = 64;
/// Ports whose bells one summary word covers.
inline constexpr std::uint32_t group_ports = 64;
/// Most lanes that call as one: the threads of a warp or wavefront.
inline constexpr std::uint32_t most_lanes = 64;
/// Most bytes of a single call's payload that every channel must carry.
inline constexpr std::uint32_t most_call_bytes = 1024;
/// Most bytes of one lane's message in several records; a longer one is refused.
inline constexpr std::uint32_t most_message_bytes = 64U << 20;

/// What is called: a class and a number within it. The class keeps those who hand numbers out from each other's way.
enum class OpcodeClass : std::uint8_t {
  port = 0,        ///< the ring itself
  gantry = 'g',    ///< Gantry's own services
  function = 'f',  ///< device/host_function
  user = 'u',      ///< whatever a program registers
};
using Opcode = std::uint32_t;
GANTRY_DEVICE_FUNCTION constexpr Opcode make_opcode(OpcodeClass group, std::uint32_t number) noexcept {
  return (static_cast<std::uint32_t>(group) << 24) | (number & 0xffffff);
}

/// Numbers of user calls are smaller than this.
inline constexpr std::uint32_t user_numbers = 1U << 24;
GANTRY_DEVICE_FUNCTION constexpr OpcodeClass class_of(Opcode opcode) noexcept {
  return static_cast<OpcodeClass>(opcode >> 24);
}

/// The rest of the ring is empty: a record lies in one piece.
inline constexpr Opcode skip_opcode = make_opcode(OpcodeClass::port, 0);
inline constexpr Opcode print_opcode = make_opcode(OpcodeClass::gantry, 1);
inline constexpr Opcode allocate_opcode = make_opcode(OpcodeClass::gantry, 2);
inline constexpr Opcode free_opcode = make_opcode(OpcodeClass::gantry, 3);
inline constexpr Opcode abort_opcode = make_opcode(OpcodeClass::gantry, 4);
inline constexpr Opcode echo_opcode = make_opcode(OpcodeClass::gantry, 5);

/// How a call ended, as its client sees it.
enum class Answer : std::uint16_t {
  ok = 0,
  aborted,  ///< the device is being closed, or was given up: nobody answers any more
  refused,  ///< the request was damaged or too large
  unknown,  ///< no handler has this opcode
  failed,   ///< the handler threw or returned an error; the host has logged it
};

/// The head of a call, at the beginning of a line; the lanes' payloads follow it in the order of their numbers,
/// `bytes` each, through as many lines as it takes. Written by the client; from `turn` == posted until it is answered
/// or its lines are consumed it is the server's.
struct Record {
  static constexpr std::uint16_t wants_answer = 1;
  static constexpr std::uint16_t more = 2;  ///< the payloads go on in the next record of this port

  std::uint32_t turn;  ///< posted_turn or answered_turn of the record's place; anything else: not there yet
  Opcode opcode;
  std::uint16_t lines;  ///< of the whole record
  std::uint16_t flags;  ///< in the answer: Answer
  std::uint32_t bytes;  ///< room for the payload of each lane, request and answer
  std::uint64_t lanes;  ///< the lanes that call

  GANTRY_DEVICE_FUNCTION char* payload() noexcept { return reinterpret_cast<char*>(this + 1); }
};
static_assert(sizeof(Record) == 24);

/// Place: the number of a line, counted from the channel's beginning (modulo 2^32, its turn repeats after 2^31); its
/// line in the ring is the place modulo the ring's size. A line holds no turn of its place before it is posted: there
/// is the last lap's, or, where a record of several lines lay, the client has cleared it.
GANTRY_DEVICE_FUNCTION constexpr std::uint32_t posted_turn(std::uint32_t place) noexcept {
  return 2 * place + 1;
}
GANTRY_DEVICE_FUNCTION constexpr std::uint32_t answered_turn(std::uint32_t place) noexcept {
  return 2 * place + 2;
}

/// Lines of a record of `lanes` payloads.
GANTRY_DEVICE_FUNCTION constexpr std::uint64_t record_lines(std::uint32_t lanes, std::uint64_t bytes) noexcept {
  return (sizeof(Record) + lanes * bytes + line_bytes - 1) / line_bytes;
}

/// One client's way to the server. Its ring of lines follows it in memory.
struct Port {
  /// The client's: touched by whoever holds the lock.
  struct alignas(line_bytes) ClientSide {
    std::uint32_t lock;      ///< 1: a client has the port open
    std::uint32_t next;      ///< place of the next record
    std::uint32_t consumed;  ///< what the client knows of the server's
    std::uint32_t dropped;   ///< records not sent because the channel was aborted
    std::uint32_t long_end;  ///< place behind the last record of several lines
  } client;
  /// The server's.
  struct alignas(line_bytes) ServerSide {
    std::uint32_t consumed;  ///< places before this one are free, and what their records asked for has been done
  } server;
  /// Seldom changes, so that both sides read it from their own caches.
  struct alignas(line_bytes) Rare {
    std::uint32_t watched;  ///< the server's; 1: it looks at the ring by itself, no need to ring
    std::uint32_t asleep;   ///< the client's; 1: it sleeps until `signal` changes
    std::uint32_t signal;   ///< the host's; changes when a client that sleeps must look again
  } rare;

  GANTRY_DEVICE_FUNCTION Record& record(std::uint32_t place, std::uint32_t ring_lines) noexcept {
    const std::size_t line = place & (ring_lines - 1);
    return *reinterpret_cast<Record*>(reinterpret_cast<char*>(this + 1) + line * line_bytes);
  }
};

/// A device's ports, in memory that both sides reach: this, the bells, the summary of the bells, the ports.
struct alignas(line_bytes) Channel {
  std::uint32_t ports;
  std::uint32_t ring_lines;   ///< a power of two
  std::uint32_t port_stride;  ///< bytes from port to port
  Port* first;
  std::uint32_t* bells;                        ///< one a port; the client writes 1, the server 0
  std::uint32_t* summary;                      ///< one for group_ports bells, written alike, after the bell
  std::uint32_t* asleep;                       ///< the server's: 1 when it sleeps and wants to be woken
  void (*wake)(Channel& channel) noexcept;     ///< wakes the server
  void (*waiting)(Channel& channel) noexcept;  ///< a client has waited for milliseconds
  void* server;

  alignas(line_bytes) std::uint32_t aborted;  ///< the host's; 1: nobody answers any more, clients stop waiting
  std::uint32_t used;                         ///< the clients'; 1: there was a record
  std::uint32_t rung;                         ///< for all of the summary, written alike, after it

  GANTRY_DEVICE_FUNCTION Port& port(std::uint32_t number) const noexcept {
    return *reinterpret_cast<Port*>(reinterpret_cast<char*>(first) + std::size_t{number} * port_stride);
  }
  /// Most lines of one record. A ring holds two of them and more, so that the skipped end of a ring never blocks.
  [[nodiscard]] GANTRY_DEVICE_FUNCTION std::uint32_t max_record_lines() const noexcept { return ring_lines / 2 - 1; }
  /// Most bytes of each of `lanes` payloads in one record.
  [[nodiscard]] GANTRY_DEVICE_FUNCTION std::uint32_t max_payload(std::uint32_t lanes) const noexcept {
    return ((max_record_lines() * line_bytes - static_cast<std::uint32_t>(sizeof(Record))) / lanes) & ~7U;
  }
};

}  // namespace gantry::rpc
