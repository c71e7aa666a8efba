// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/rpc/protocol.hpp>
#include <unit_tests/rpc/explorer.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace gantry::rpc::model {

using exploration::Explorer;
using exploration::Word;

/// Words that no other thread reads or writes meanwhile: no steps.
struct QuietWords {
  const std::byte* first_shared = nullptr;  ///< those before it are of ports that nobody uses
  std::vector<const Word*> words;

  [[nodiscard]] bool operator()(const Word& word) const;
};
/// Of the one exploration that runs.
inline QuietWords g_quiet;

/// Each access to a word of the channel is a step of the Explorer.
struct ExploringPlatform {
  static constexpr std::uint64_t lanes() noexcept { return 1; }
  static constexpr std::uint32_t count() noexcept { return 1; }
  static constexpr std::uint32_t lane() noexcept { return 0; }
  static constexpr bool leads() noexcept { return true; }
  static constexpr void sync() noexcept {}
  /// What a client keeps in its locals while it waits: the place of its record, and that it has one.
  static std::uint32_t broadcast(std::uint32_t value) noexcept {
    Explorer::kept(value);
    return value;
  }
  static constexpr std::uint32_t max(std::uint32_t value) noexcept { return value; }

  static Word load(const Word& word) noexcept {
    if (g_quiet(word)) return word;
    return Explorer::load(word);
  }
  static void store(Word& word, Word value) noexcept {
    if (g_quiet(word)) {
      word = value;
    } else {
      Explorer::store(word, value);
    }
  }
  static Word exchange(Word& word, Word value) noexcept {
    return g_quiet(word) ? std::exchange(word, value) : Explorer::exchange(word, value);
  }
  static bool take(Word& word) noexcept {
    if (exchange(word, 1) != 0) return false;
    Explorer::kept(1);
    return true;
  }
  static void light_fence() noexcept {}
  static void heavy_fence() noexcept { Explorer::heavy_fence(); }
  static bool wait(std::uint32_t) noexcept { return Explorer::wait(); }
  static void sleep(Word& word, Word value, Channel&) noexcept { Explorer::sleep_while(word, value); }
  static void wake(Channel& channel) noexcept { exchange(*channel.asleep, 0); }
  static void signal(Word& word) noexcept { Explorer::increment(word); }
};

/// Knows of Client what of that which it reads it makes no use of afterwards, so that states are the same that differ
/// in nothing else.
struct ClientPlatform : ExploringPlatform {
  const Port* port = nullptr;  ///< the client's; its ring follows it
  std::size_t ring_words = 0;
  bool forgets = true;

  Word load(const Word& word) const noexcept {
    const bool turn = &word >= &port[1].client.lock && &word < &port[1].client.lock + ring_words;
    // It looks for what it waits for: all that counts of what it read is the signal, until it has slept.
    if (forgets && (turn || &word == &port->server.consumed)) Explorer::forget();
    const Word value = ExploringPlatform::load(word);
    if (&word == &port->rare.signal) Explorer::hold(value + 1);
    return value;
  }
  void store(Word& word, Word value) const noexcept {
    if (&word == &port->rare.asleep && value == 0) Explorer::hold(0);
    ExploringPlatform::store(word, value);
  }
};

}  // namespace gantry::rpc::model
