// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/status.hpp>

#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace gantry::test {

/// The driver under a FakeBackend: counts what lives in it, fails on demand, and holds work back on demand.
/// Thread safety: all functions, any thread.
class FakeDriver {
 public:
  struct Live {
    int devices = 0, channels = 0, queues = 0, events = 0;
    bool operator==(const Live&) const = default;
  };

  /// The k-th call from now on (1: the next), of any name or of one, fails with `code`.
  void fail_call(int k, Code code = Code::driver_error);
  void fail_call(const std::string& name, int k, Code code = Code::driver_error);
  /// Every call of that name fails, until stop_failing().
  void fail_always(const std::string& name, Code code);
  void stop_failing();

  /// Calls so far, in order, without those that query.
  [[nodiscard]] std::vector<std::string> calls();
  [[nodiscard]] int count(std::string_view name);
  [[nodiscard]] Live live();

  /// Launches, copies, ... stay in their queues until let_go(), which runs them on the calling thread or on one that
  /// waits.
  void hold();
  void let_go();

  // What the fake objects use.
  struct Pumped {
    virtual ~Pumped() = default;
    /// Runs what may run.
    virtual void pump() = 0;
  };
  [[nodiscard]] Status call(const char* name);
  void add(int Live::*kind, int change);
  std::mutex mutex;                 ///< guards all of the driver and of its objects
  std::condition_variable changed;  ///< notified after every piece of work, and by let_go()
  bool held = false;
  std::vector<Pumped*> queues;

 private:
  struct Fault {
    std::string name;  // empty: any
    int calls_left;    // 0: always
    Code code;
  };
  std::vector<const char*> m_calls;
  std::vector<Fault> m_faults;
  Live m_live;
};

}  // namespace gantry::test
