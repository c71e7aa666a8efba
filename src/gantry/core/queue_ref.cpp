// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/core/queue_ref.hpp>

#include <gantry/base/try.hpp>
#include <gantry/core/device_gate.hpp>
#include <gantry/core/execution_context.hpp>
#include <gantry/core/managed_device.hpp>
#include <gantry/core/managed_queue.hpp>

#include <fmt/format.h>

#include <limits>

namespace gantry {
namespace {

Status empty_reference(const char* what) {
  return Status::error(Code::invalid_argument, fmt::format("the {} reference is empty", what));
}

[[gnu::always_inline]] inline Status told(const QueueTarget& target, Status status) {
  if (!status.ok()) [[unlikely]]
    return target.gate.device.load()->told(std::move(status));
  return status;
}

/// A thread that runs work of a device must not wait for any, which may wait for that; so nothing is enqueued there
/// either, whose operands nobody could wait for, and two kernels cannot meet on each other's queues.
Status refused_inside_work() {
  return Status::error(Code::refused,
                       "work of a device can be neither enqueued nor waited for inside a kernel or host function");
}

/// Runs `call(queue)`, which enqueues, inside the open period of a reference.
template <class Call>
[[gnu::always_inline]] inline Status with_queue(const ManagedQueue* reference, Call&& call) {
  if (reference == nullptr) [[unlikely]]
    return empty_reference("queue");
  if (execution_context() != nullptr) [[unlikely]]
    return refused_inside_work();
  const QueueTarget target(reference);
  return with_device(target.gate, target.generation, [&]() -> Status { return told(target, call(target.queue())); });
}

/// Inside the device: whether it may use an operand of a call.
Status check_access(const char* what, const ManagedQueue* reference, const void* address, std::size_t bytes,
                    LiveObjects::HostMemory host_memory = LiveObjects::HostMemory::accepted) {
  const QueueTarget target(reference);
  return target.gate.device.load(std::memory_order_relaxed)
      ->check_access(target.generation, address, bytes, host_memory)
      .with_context(what);
}

/// True when the open period of an event is over, which leaves nothing to wait for.
bool over(const ManagedEvent& event) noexcept {
  return event.generation < event.gate.generation.load();
}

}  // namespace

Status QueueRef::launch(const KernelInfo& kernel, const Launch& launch, const void* body) const {
  return with_queue(m_queue, [&](Queue& queue) { return queue.launch(kernel, launch, body); });
}

Status QueueRef::copy(void* to, const void* from, std::size_t bytes) const {
  return with_queue(m_queue, [&](Queue& queue) -> Status {
    GANTRY_TRY(check_access("a copy", m_queue, to, bytes));
    GANTRY_TRY(check_access("a copy", m_queue, from, bytes));
    return queue.copy(to, from, bytes);
  });
}

Status QueueRef::write(void* to, const void* from, std::size_t bytes) const {
  return with_queue(m_queue, [&](Queue& queue) -> Status {
    GANTRY_TRY(check_access("a write", m_queue, to, bytes));
    GANTRY_TRY(check_access("a write", m_queue, from, bytes));
    return queue.write(to, from, bytes);
  });
}

Status QueueRef::fill(void* to, const void* pattern, std::size_t pattern_bytes, std::size_t count) const {
  return with_queue(m_queue, [&](Queue& queue) -> Status {
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(count, pattern_bytes, &bytes)) bytes = std::numeric_limits<std::size_t>::max();
    GANTRY_TRY(check_access("a fill", m_queue, to, bytes, LiveObjects::HostMemory::refused));
    return queue.fill(to, pattern, pattern_bytes, count);
  });
}

Status QueueRef::record(const EventRef& event) const {
  return with_queue(m_queue, [&](Queue& queue) -> Status {
    if (!event) return empty_reference("event");
    const ManagedEvent& managed = *event.m_event;
    const QueueTarget target(m_queue);
    if (&managed.gate != &target.gate) {
      return Status::error(Code::invalid_argument, "an event can be recorded only in queues of its own device");
    }
    if (managed.generation != target.generation) return not_admitted(managed.gate, managed.generation);
    return queue.record(*managed.target);
  });
}

Status QueueRef::wait(const EventRef& event) const {
  if (m_queue == nullptr) return empty_reference("queue");
  if (!event) return empty_reference("event");
  if (execution_context() != nullptr) return refused_inside_work();
  const QueueTarget target(m_queue);
  const ManagedEvent& managed = *event.m_event;
  // Two devices: a close of either may be deciding, which must not wait for a call that waits for it.
  do {
    const DeviceCall on_queue(target.gate, target.generation);
    if (!on_queue) continue;
    if (over(managed)) return {};
    const DeviceCall on_event(managed.gate, managed.generation);
    if (on_event) return told(target, target.queue().wait(*managed.target));
  } while (await_decision(target.gate, target.generation) && await_decision(managed.gate, managed.generation));
  const DeviceCall on_queue(target.gate, target.generation);
  if (!on_queue) return not_admitted(target.gate, target.generation);
  return over(managed) ? Status() : not_admitted(managed.gate, managed.generation);
}

Status QueueRef::host_function(void (*function)(void* argument), void* argument) const {
  return with_queue(m_queue, [&](Queue& queue) { return queue.host_function(function, argument); });
}

Status QueueRef::sync() const {
  if (m_queue != nullptr && execution_context() != nullptr && idle()) return {};
  return with_queue(m_queue, [&](Queue& queue) { return queue.sync(); });
}

bool QueueRef::idle() const noexcept {
  if (m_queue == nullptr) return true;
  const QueueTarget target(m_queue);
  const DeviceCall call(target.gate, target.generation);
  return call ? target.queue().idle() : !target.gate.current(target.generation);
}

DeviceHandle QueueRef::device() const noexcept {
  if (m_queue == nullptr) return {};
  const QueueTarget target(m_queue);
  return {target.gate.id, target.generation};
}

QueueRef QueueRef::default_queue() const noexcept {
  if (!counted(m_queue)) return *this;
  return ManagedQueue::default_queue(m_queue->gate, m_queue->generation);
}

bool QueueRef::current() const noexcept {
  if (m_queue == nullptr) return false;
  const QueueTarget target(m_queue);
  return target.gate.current(target.generation);
}

bool QueueRef::usable() const noexcept {
  if (m_queue == nullptr) return false;
  const QueueTarget target(m_queue);
  do {
    const DeviceCall call(target.gate, target.generation);
    if (call) return !target.gate.device.load()->poisoned();
  } while (await_decision(target.gate, target.generation));
  return false;
}

std::uint32_t QueueRef::id() const noexcept {
  if (m_queue == nullptr) return 0;
  const QueueTarget target(m_queue);
  return target.managed != nullptr ? target.managed->id : target.gate.default_queue_id();
}

std::string QueueRef::label() const {
  if (m_queue == nullptr) return {};
  const QueueTarget target(m_queue);
  return target.managed != nullptr ? target.managed->label : "default";
}

int QueueRef::concurrency() const noexcept {
  if (m_queue == nullptr) return 0;
  const QueueTarget target(m_queue);
  return target.managed != nullptr ? target.managed->concurrency
                                   : target.gate.concurrency.load(std::memory_order_relaxed);
}

void QueueRef::acquire_counted(ManagedQueue* queue) noexcept {
  queue->references.fetch_add(1, std::memory_order_relaxed);
}

void QueueRef::release_counted(ManagedQueue* queue) noexcept {
  queue->gate.device.load()->release(*queue);
}

bool EventRef::ready() const noexcept {
  if (m_event == nullptr) return true;
  const DeviceCall call(m_event->gate, m_event->generation);
  return call ? m_event->target->ready() : !m_event->gate.current(m_event->generation);
}

Status EventRef::sync() const {
  if (m_event == nullptr) return empty_reference("event");
  Status status = with_device(m_event->gate, m_event->generation, [&]() -> Status {
    Event& event = *m_event->target;
    return execution_context() != nullptr && !event.ready() ? refused_inside_work() : event.sync();
  });
  return over(*m_event) ? Status() : std::move(status);
}

void EventRef::acquire(ManagedEvent* event) noexcept {
  if (event != nullptr) event->references.fetch_add(1, std::memory_order_relaxed);
}

void EventRef::release(ManagedEvent* event) noexcept {
  if (event != nullptr) event->gate.device.load()->release(*event);
}

}  // namespace gantry
