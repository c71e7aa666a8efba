// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/rpc/protocol.hpp>
#include <unit_tests/rpc/explored_program.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gantry::rpc::model {

using exploration::Word;

/// A channel with two ports that are used, small rings, and before them ports that stay idle; and what is known of what
/// is right. All in one piece of memory.
class ModelledChannel {
 public:
  static constexpr std::uint32_t ring_lines = 8;
  static constexpr std::size_t ring_words = ring_lines * line_bytes / sizeof(Word);
  static constexpr unsigned used_ports = 2;

  /// Records that were sent through a port and not served yet.
  struct Sent {
    std::array<Word, 8> ids;
    Word count;

    void add(Word id) { ids[count++] = id; }
    void remove_first();
  };

  explicit ModelledChannel(unsigned idle_ports);
  ModelledChannel(const ModelledChannel&) = delete;
  ModelledChannel& operator=(const ModelledChannel&) = delete;

  /// As it was made, at the same addresses.
  void reset();

  [[nodiscard]] Channel& channel() const noexcept { return m_shared->channel; }
  /// The number that the channel knows a used port by.
  [[nodiscard]] unsigned number(unsigned used) const noexcept { return m_idle_ports + used; }
  [[nodiscard]] Port& port(unsigned used) const noexcept { return m_shared->ports[used].port; }
  [[nodiscard]] Sent& sent(unsigned used) const noexcept { return m_shared->sent[used]; }
  /// Threads that have ended.
  [[nodiscard]] Word& ended() const noexcept { return m_shared->ended; }

  /// All of it but the idle ports.
  [[nodiscard]] std::span<std::byte> shared() const noexcept { return std::as_writable_bytes(std::span(m_shared, 1)); }
  [[nodiscard]] std::string word_name(const Word& word) const;

 private:
  struct PortMemory {
    Port port;
    alignas(line_bytes) std::array<std::byte, ring_lines * line_bytes> ring;
  };
  struct Shared {
    std::array<PortMemory, used_ports> ports;  // idle ports lie before them
    Channel channel;
    std::array<Word, group_ports + used_ports> bells;
    std::array<Word, 2> summary;
    Word asleep;
    Word ended;
    std::array<Sent, used_ports> sent;
  };

  [[nodiscard]] std::size_t idle_bytes() const noexcept { return m_idle_ports * sizeof(PortMemory); }
  void set_up();

  unsigned m_idle_ports;
  std::vector<std::byte> m_memory;
  std::byte* m_idle = nullptr;
  Shared* m_shared = nullptr;
};

}  // namespace gantry::rpc::model
