// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace gantry::exploration {

using Word = std::uint32_t;

/// What an Explorer explores: threads that share memory, and what is right. All that they change lies in memory(), at
/// the same addresses after each reset(), or on their stacks: they own nothing on the heap while they run.
class Program {
 public:
  virtual ~Program() = default;

  /// Puts the memory into the state before the first step.
  virtual void reset() = 0;
  [[nodiscard]] virtual unsigned threads() const = 0;
  virtual void run(unsigned thread) = 0;
  /// Empty where nothing more happens and nothing more should; else what is wrong about that.
  [[nodiscard]] virtual std::string wrong_end() const = 0;

  /// What the threads share: part of a state's identity, byte by byte.
  [[nodiscard]] virtual std::span<std::byte> shared() = 0;
  /// What one thread owns, apart from its stack: no part of a state's identity, but for what checkpoint() is given.
  [[nodiscard]] virtual std::span<const std::span<std::byte>> owned() = 0;

  [[nodiscard]] virtual std::string thread_name(unsigned thread) const = 0;
  [[nodiscard]] virtual std::string word_name(const Word& word) const = 0;
};

}  // namespace gantry::exploration
