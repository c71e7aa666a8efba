// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/status.hpp>

namespace gantry {

/// A point in a queue that others can wait for. Recorded by Queue::record, any number of times; the last record counts.
/// Thread safety: all functions may be called by any thread until close().
class Event {
 public:
  Event() = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  virtual ~Event() = default;

  /// True when the last record has been reached, or when there never was one. Never blocks; not-ready is no error.
  [[nodiscard]] virtual bool ready() const noexcept = 0;
  /// Waits until ready(); an error of the work before the record is left for the queue's own sync. Never called inside
  /// a kernel or host function.
  virtual Status sync() = 0;
  /// Releases what the event holds on its device. Called once, by core; the object is destroyed right after, also while
  /// records and waits that name it are still enqueued: these keep what they need.
  virtual Status close() = 0;
};

}  // namespace gantry
