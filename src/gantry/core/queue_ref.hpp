// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/export.hpp>
#include <gantry/base/status.hpp>
#include <gantry/core/handle.hpp>
#include <gantry/core/kernel.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace gantry {

class ManagedQueue;  // core/managed_queue.hpp: the Queue, its device and generation, its label and its reference count
class ManagedEvent;
class EventRef;

/// Counted reference to a queue: one pointer wide, what programs hold. Every call enters the rundown guard and checks
/// that the device is still in the open period that the queue was made in; otherwise it returns device_closed or
/// stale_handle. What each call guarantees is written at Queue. Once work of the device has failed, the first call
/// that enqueues, waits or allocates on it, or the first fence_all, returns its error (kernel_error); later calls of
/// that sort return `poisoned`, with the same text.
///
/// The last reference may drop anywhere, also inside a kernel of the queue itself: the queue is then retired, and
/// released by its device once it is empty; nothing waits. The default queue of a device is not counted and lives as
/// long as the device is open; a reference to it stays valid to hold (and is refused) after that: it is no address but
/// the device's number and generation, so copying it touches no memory.
/// Thread safety: different references to one queue may be used by different threads at the same time.
class GANTRY_API QueueRef {
 public:
  QueueRef() noexcept = default;
  QueueRef(const QueueRef& other) noexcept : m_queue(other.m_queue) { acquire(m_queue); }
  QueueRef(QueueRef&& other) noexcept : m_queue(std::exchange(other.m_queue, nullptr)) {}
  QueueRef& operator=(QueueRef other) noexcept {
    std::swap(m_queue, other.m_queue);
    return *this;
  }
  ~QueueRef() { release(m_queue); }

  explicit operator bool() const noexcept { return m_queue != nullptr; }
  bool operator==(const QueueRef& other) const noexcept = default;

  /// This and all that follows down to host_function enqueue, which is `refused` inside a kernel or host function.
  Status launch(const KernelInfo& kernel, const Launch& launch, const void* body) const;
  /// Of copy, write and fill: invalid_argument when an operand overruns its allocation, or is memory of another device,
  /// and when what is filled is no memory of an open device; every other address, and the pattern, is the host's.
  Status copy(void* to, const void* from, std::size_t bytes) const;
  Status write(void* to, const void* from, std::size_t bytes) const;
  Status fill(void* to, const void* pattern, std::size_t pattern_bytes, std::size_t count) const;
  Status record(const EventRef& event) const;
  Status wait(const EventRef& event) const;
  Status host_function(void (*function)(void* argument), void* argument) const;
  /// `refused` inside a kernel or host function, unless the queue is idle.
  Status sync() const;
  [[nodiscard]] bool idle() const noexcept;

  [[nodiscard]] DeviceHandle device() const noexcept;
  /// The default queue of the same open period.
  [[nodiscard]] QueueRef default_queue() const noexcept;
  /// True while the open period that the queue was made in lasts.
  [[nodiscard]] bool current() const noexcept;
  /// True while current() and no work of the device has failed.
  [[nodiscard]] bool usable() const noexcept;
  /// Small and unique in the process; 1 for the default queue of the first device.
  [[nodiscard]] std::uint32_t id() const noexcept;
  [[nodiscard]] std::string label() const;
  /// Thread slots of the queue's device; kept after the device has closed.
  [[nodiscard]] int concurrency() const noexcept;

 private:
  friend class ManagedQueue;
  explicit QueueRef(ManagedQueue* adopted) noexcept : m_queue(adopted) {}
  /// False for the empty reference and for default queues, whose lowest bit is set.
  static bool counted(const ManagedQueue* queue) noexcept {
    return queue != nullptr && (reinterpret_cast<std::uintptr_t>(queue) & 1U) == 0;
  }
  static void acquire(ManagedQueue* queue) noexcept {
    if (counted(queue)) acquire_counted(queue);
  }
  static void release(ManagedQueue* queue) noexcept {
    if (counted(queue)) release_counted(queue);
  }
  static void acquire_counted(ManagedQueue* queue) noexcept;
  static void release_counted(ManagedQueue* queue) noexcept;
  ManagedQueue* m_queue = nullptr;
};

/// Counted reference to an event of one device; as QueueRef in all respects.
class GANTRY_API EventRef {
 public:
  EventRef() noexcept = default;
  EventRef(const EventRef& other) noexcept : m_event(other.m_event) { acquire(m_event); }
  EventRef(EventRef&& other) noexcept : m_event(std::exchange(other.m_event, nullptr)) {}
  EventRef& operator=(EventRef other) noexcept {
    std::swap(m_event, other.m_event);
    return *this;
  }
  ~EventRef() { release(m_event); }
  explicit operator bool() const noexcept { return m_event != nullptr; }

  /// An event of a device that has closed since is ready.
  [[nodiscard]] bool ready() const noexcept;
  /// Ok for an event of a device that has closed since. `refused` as QueueRef::sync, unless the event is ready.
  Status sync() const;

 private:
  friend class ManagedEvent;
  friend class QueueRef;
  explicit EventRef(ManagedEvent* adopted) noexcept : m_event(adopted) {}
  static void acquire(ManagedEvent* event) noexcept;
  static void release(ManagedEvent* event) noexcept;
  ManagedEvent* m_event = nullptr;
};

}  // namespace gantry
