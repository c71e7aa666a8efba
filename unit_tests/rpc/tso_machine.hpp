// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <unit_tests/rpc/exploration.hpp>
#include <unit_tests/rpc/explored_choice.hpp>
#include <unit_tests/rpc/explored_program.hpp>
#include <unit_tests/rpc/explored_thread.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace gantry::exploration {

/// What a Program runs on: its threads, each a fiber with a store buffer, and a memory. One choice at a time happens;
/// its state can be saved and restored. One at a time exists in a process.
class TsoMachine {
 public:
  TsoMachine(Program& program, const Rules& rules);
  ~TsoMachine() { s_current = nullptr; }
  TsoMachine(const TsoMachine&) = delete;
  TsoMachine& operator=(const TsoMachine&) = delete;

  /// Into the first state: each thread waits to do its first step.
  void restart();
  /// What can happen next.
  void enabled(std::vector<Choice>& choices) const;
  void take(Choice by);

  /// Of the state.
  [[nodiscard]] std::uint64_t hash() const;
  void save(std::vector<std::byte>& to) const;
  /// A state that was saved since the last restart.
  void restore(const std::vector<std::byte>& saved);

  [[nodiscard]] Program& program() const noexcept { return m_program; }
  [[nodiscard]] std::span<const Thread> threads() const noexcept { return {m_threads.data(), m_program.threads()}; }
  /// What a thread said is wrong; the first of it since the last restart.
  [[nodiscard]] const std::string& failure() const noexcept { return m_failure; }

  // For the threads.

  [[nodiscard]] static TsoMachine& current() noexcept { return *s_current; }
  [[nodiscard]] Thread& running() noexcept { return m_threads[m_running]; }
  /// The next step is this one. Its result, when it was taken.
  Word step(Kind kind, const Word* word = nullptr, Word value = 0);
  void store(Word& word, Word value);
  void fail(std::string what) {
    if (m_failure.empty()) m_failure = std::move(what);
  }

 private:
  static void enter(boost::context::detail::transfer_t from);
  void resume(unsigned number);
  [[nodiscard]] const std::byte* stack_top(unsigned thread) const noexcept;
  [[nodiscard]] std::span<Thread> threads() noexcept { return {m_threads.data(), m_program.threads()}; }
  [[nodiscard]] bool awaited(unsigned fence) const;
  void flush_oldest(Thread& thread);
  void run(unsigned number, Variant variant);

  static constexpr unsigned max_threads = 4;
  static constexpr std::size_t stack_bytes = 32 * 1024;
  static inline TsoMachine* s_current = nullptr;

  Program& m_program;
  Rules m_rules;
  std::vector<std::byte> m_stacks;
  std::array<Thread, max_threads> m_threads{};
  boost::context::detail::fcontext_t m_scheduler = nullptr;
  unsigned m_running = 0;
  std::string m_failure;
};

}  // namespace gantry::exploration
