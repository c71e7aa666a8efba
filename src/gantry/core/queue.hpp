// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/status.hpp>
#include <gantry/core/kernel.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace gantry {

class Event;
namespace rpc {
struct Channel;
}

/// How a queue is made.
struct QueueOptions {
  std::uint32_t id = 0;     ///< unique in the process, small; names the queue in messages
  std::string label;        ///< what the program calls it
  std::string device_name;  ///< "host:1", for messages
};

/// In-order stream of work on one open device: the data path's only door to a device.
///
///     Kokkos::parallel_for -> kokkos/ParallelFor_Range builds a Body -> kokkos/Launch -> core/queue_ref (guard, handle
///     check) -> Queue::launch -> backends/host/queue -> backends/host/stream: the workers run it
///
/// Everything enqueued runs in order; work of different queues may overlap. No call but sync waits for the work that it
/// enqueues; one that finds very much of it enqueued may wait for room. Thread safety: all functions may be called by
/// any thread at any time until close(); calls of one thread keep their order. Once work of the device has
/// failed, every call returns its error (kernel_error); core tells it to one caller only. No call is made inside a
/// kernel or host function: core refuses that.
class Queue {
 public:
  Queue() = default;
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  virtual ~Queue() = default;

  /// Runs a kernel. The body is copied (or used in place, when the call runs it before it returns) and destroyed after
  /// its last use; the caller's copy may die when the call returns.
  virtual Status launch(const KernelInfo& kernel, const Launch& launch, const void* body) = 0;

  /// Copies bytes between any two of host and this device's memory. Source and destination must stay valid until the
  /// copy has run; they must not overlap.
  virtual Status copy(void* to, const void* from, std::size_t bytes) = 0;

  /// As copy, but `from` is read before the call returns and may die then.
  virtual Status write(void* to, const void* from, std::size_t bytes) = 0;

  /// Sets `count` elements of `pattern_bytes` bytes each. The pattern is read before the call returns.
  virtual Status fill(void* to, const void* pattern, std::size_t pattern_bytes, std::size_t count) = 0;

  /// Marks this point of the queue in `event` (which must belong to the same device).
  virtual Status record(Event& event) = 0;

  /// What is enqueued after this runs only when the last record of `event` (of any queue of any device of the same
  /// backend) has been reached. An event never recorded is ready.
  virtual Status wait(Event& event) = 0;

  /// Calls `function(argument)` in stream order on a thread of the backend, never on the calling or on a fencing
  /// thread. It can neither enqueue nor wait for work; work behind it waits until it has returned.
  virtual Status host_function(void (*function)(void* argument), void* argument) = 0;

  /// Waits until everything enqueued before has run, and what it printed is visible. The waiting thread may help to run
  /// what it waits for.
  virtual Status sync() = 0;

  /// True when nothing enqueued is unfinished; never blocks.
  [[nodiscard]] virtual bool idle() const noexcept = 0;

  /// How code that runs on a thread of this process calls the host; null: it cannot.
  [[nodiscard]] virtual rpc::Channel* channel() const noexcept { return nullptr; }

  /// Releases what the queue holds on its device. Called once, by core, when the queue is idle and no call is inside.
  virtual Status close() = 0;
};

}  // namespace gantry
