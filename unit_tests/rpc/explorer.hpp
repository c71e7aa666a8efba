// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <unit_tests/rpc/exploration.hpp>
#include <unit_tests/rpc/explored_program.hpp>

#include <cstdint>
#include <string>

namespace gantry::exploration {

/// Runs a Program's threads in every order that x86's memory model (TSO) allows: each thread has a FIFO store buffer; a
/// store goes into it; when its oldest entry reaches memory is the scheduler's choice; a load looks into it first; a
/// read-modify-write waits until it is empty. A heavy fence does too, and ends when what the other threads had in
/// theirs when it began has reached memory: no more than that may be expected of membarrier. A light fence is nothing.
///
/// The threads are fibers of the calling thread. Each function below that says so is a step: it returns when the
/// scheduler chose it, after any steps of the others. All that is between two steps happens at once with the first one.
/// That is no loss for a store: that it is in its buffer is seen by nobody. A fence of another thread could come before
/// it or behind it, so those behind the thread's last step are none that a fence has to wait for.
///
/// States are told apart by the shared bytes, the store buffers and, for each thread, what it has read since its last
/// checkpoint, of which its locals and where it stands are a function. So a thread must say with observe() what it read
/// in another way than load() and keeps.
class Explorer {
 public:
  static Outcome explore(Program& program, const Rules& rules = {});

  // For the threads.

  static Word load(const Word& word);                     ///< A step.
  static void store(Word& word, Word value);              ///< Into the buffer; no step.
  static Word exchange(Word& word, Word value);           ///< A step.
  static void increment(Word& word);                      ///< A step.
  static void heavy_fence();                              ///< One step, or two.
  static void pause();                                    ///< A step that does nothing.
  static unsigned choose();                               ///< A step: 0 or 1.
  static void sleep_while(const Word& word, Word value);  ///< A step that is not taken while the word has the value.
  static void block_while(const Word& word, Word value);  ///< The same, and no idle wakes.

  /// In a loop that polls. A step: true, which is not taken before something has changed of what the thread has read
  /// since its last store or wait; or false. Nothing that was read since the last checkpoint may live on but in what
  /// was kept() since.
  static bool wait();

  /// Nothing that was read before lives on but in `state`.
  static void checkpoint(std::uint64_t state);
  static void kept(std::uint64_t value);
  static void observe(std::uint64_t value);
  /// What was read since the last checkpoint does not live on, but for what was kept() since and the value held now.
  static void forget();
  static void hold(std::uint64_t value);

  /// A violation: the search ends here.
  static void fail(std::string what);

  [[nodiscard]] static std::uint64_t mix(std::uint64_t hash, std::uint64_t value) noexcept;
};

}  // namespace gantry::exploration
