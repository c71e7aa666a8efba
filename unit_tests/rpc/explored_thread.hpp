// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <unit_tests/rpc/explored_program.hpp>

#include <boost/context/detail/fcontext.hpp>

#include <array>
#include <cstdint>

namespace gantry::exploration {

inline constexpr unsigned max_buffered = 20;
/// With more in its buffer a thread makes no step. Between two steps it makes fewer stores than the rest of the buffer.
inline constexpr unsigned most_buffered = 12;
inline constexpr unsigned max_reads = 8;

/// What a thread waits to do: its next step.
enum class Kind : std::uint8_t { load, exchange, increment, fence, fence_end, pause, choose, wait, sleep, block, end };

struct Buffered {
  Word* word;
  Word value;
  std::uint32_t awaited;  ///< by the fences of these threads
};

struct Read {
  const Word* word;
  Word value;
};

/// All of a thread but its stack; copied byte by byte.
struct Thread {
  boost::context::detail::fcontext_t fiber;
  Kind kind;
  bool changed;  ///< at a wait: something that it read has
  std::uint8_t buffered;
  std::uint8_t fresh;  ///< of the buffered: those stored since the last step
  std::uint8_t reads;  ///< since the last store or wait; more than max_reads: too many
  Word* word;
  Word value;
  Word result;
  std::uint64_t checkpoint;
  std::uint64_t held;
  std::uint64_t history;
  std::array<Buffered, max_buffered> buffer;
  std::array<Read, max_reads> read;
};

}  // namespace gantry::exploration
