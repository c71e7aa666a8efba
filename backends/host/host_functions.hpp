// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/status.hpp>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace gantry::host {

struct Engine;
class Stream;

/// The thread that runs host functions, one after the other, so that one which blocks keeps no thread slot from a
/// kernel. Takes no CPU while there is none.
class HostFunctions {
 public:
  explicit HostFunctions(Engine& engine) : m_engine(engine) {}

  /// Starts the thread unless it is there; an error when there is none to have. Before post; any thread.
  Status start();

  /// Runs `function(argument)`, then lets the stream go on. Any thread.
  void post(Stream& stream, void (*function)(void*), void* argument);

  /// Ends the thread, which has nothing to do any more. Repeatable.
  void stop();

 private:
  struct Call {
    Stream* stream;
    void (*function)(void*);
    void* argument;
  };
  void serve();

  Engine& m_engine;
  std::mutex m_mutex;  // guards all below; never held while a function runs
  std::condition_variable m_changed;
  std::deque<Call> m_calls;
  bool m_stop = false;
  std::thread m_thread;
};

}  // namespace gantry::host
