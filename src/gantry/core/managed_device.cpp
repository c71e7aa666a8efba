// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/core/managed_device.hpp>

#include <gantry/base/log.hpp>
#include <gantry/base/printable.hpp>
#include <gantry/base/try.hpp>
#include <gantry/core/execution_context.hpp>

#include <fmt/format.h>

#include <utility>

namespace gantry {
namespace {

/// How many retired queues one call looks at: enough to release more than it adds, few enough to cost nothing.
constexpr std::size_t reap_limit = 4;

/// Memory freed inside a kernel, of this device or another, which may use it until it has completed.
struct DeferredFree {
  const DeviceGate* gate;
  std::uint32_t generation;
  MemoryPool* pool;
  void* memory;
};

ObjectKind object_kind(MemoryKind kind) noexcept {
  return kind == MemoryKind::pinned ? ObjectKind::pinned_memory : ObjectKind::device_memory;
}

MemoryKind memory_kind(ObjectKind kind) noexcept {
  return kind == ObjectKind::pinned_memory ? MemoryKind::pinned : MemoryKind::device;
}

void log_error(const Status& status) {
  if (!status.ok()) log(LogLevel::error, status.message());
}

}  // namespace

Result<QueueRef> ManagedDevice::default_queue(std::uint32_t generation) {
  return with_device(m_gate, generation,
                     [&]() -> Result<QueueRef> { return ManagedQueue::default_queue(m_gate, generation); });
}

Result<QueueRef> ManagedDevice::create_queue(std::uint32_t generation, std::string label) {
  return with_device(m_gate, generation, [&]() -> Result<QueueRef> {
    GANTRY_TRY(told(m_device->poison()));
    log_error(reap());
    QueueOptions options{take_queue_id(), std::move(label), m_info.name};
    Result<std::unique_ptr<Queue>> made = m_device->create_queue(options);
    if (!made.ok()) {
      give_back_queue_id(options.id);
      return std::move(made).status().with_context(
          fmt::format("making queue {} on {}", in_quotes(options.label), m_info.name));
    }
    auto* queue = new ManagedQueue(m_gate, generation, std::move(made).value(), std::move(options));
    m_environment.live.insert(ObjectKind::queue, queue, 0, queue->label, {m_id, generation}, m_info.name.c_str());
    m_queues.add(*queue);
    return ManagedQueue::adopt(*queue);
  });
}

Result<EventRef> ManagedDevice::create_event(std::uint32_t generation, std::string label) {
  return with_device(m_gate, generation, [&]() -> Result<EventRef> {
    GANTRY_TRY(told(m_device->poison()));
    Result<std::unique_ptr<Event>> made = m_device->create_event();
    if (!made.ok()) {
      return std::move(made).status().with_context(fmt::format("making event {} on {}", in_quotes(label), m_info.name));
    }
    auto* event = new ManagedEvent(m_gate, generation, std::move(made).value());
    m_environment.live.insert(ObjectKind::event, event, 0, label, {m_id, generation}, m_info.name.c_str());
    m_events.add(*event);
    return ManagedEvent::adopt(*event);
  });
}

Result<void*> ManagedDevice::allocate(std::uint32_t generation, MemoryKind kind, std::size_t bytes,
                                      std::string_view label) {
  return with_device(m_gate, generation, [&]() -> Result<void*> {
    if (Status poison = m_device->poison(); !poison.ok()) [[unlikely]]
      return told(std::move(poison)).with_context(fmt::format("allocating {}", in_quotes(label)));
    return take_memory(generation, kind, bytes, label);
  });
}

Result<void*> ManagedDevice::allocate(std::size_t bytes) {
  return take_memory(m_open_generation, MemoryKind::device, bytes, "malloc in a kernel");
}

/// Inside the device, or called by its kernels.
Result<void*> ManagedDevice::take_memory(std::uint32_t generation, MemoryKind kind, std::size_t bytes,
                                         std::string_view label) {
  Result<void*> made = memory(kind).pool.allocate(bytes);
  if (!made.ok()) [[unlikely]] {
    Status status = std::move(made).status();
    // What the pool of the other kind keeps for later may be what is missing here.
    const MemoryKind other = kind == MemoryKind::device ? MemoryKind::pinned : MemoryKind::device;
    if (status.code() == Code::out_of_memory && memory(other).pool.trim() != 0) {
      made = memory(kind).pool.allocate(bytes);
      if (!made.ok()) status = std::move(made).status();
    }
    if (!made.ok()) {
      return std::move(status).with_context(
          fmt::format("{} in {} memory of {}", in_quotes(label), memory_kind_name(kind), m_info.name));
    }
  }
  m_environment.live.insert(object_kind(kind), made.value(), bytes, label, {m_id, generation}, m_info.name.c_str());
  return made;
}

Status ManagedDevice::deallocate(std::uint32_t generation, void* memory) {
  if (memory == nullptr) return {};
  Status status = with_device(m_gate, generation, [&]() -> Status {
    GANTRY_TRY_ASSIGN(MemoryPool * pool, forget(generation, memory));
    if (ExecutionContext* context = execution_context(); context != nullptr && context->defer != nullptr) {
      context->defer(*context, &free_deferred, new DeferredFree{&m_gate, generation, pool, memory});
      return {};
    }
    return pool->free(memory);
  });
  // An open period that has ended, or is about to, takes its memory back itself; one whose close decides may go on.
  const bool ended = status.code() == Code::stale_handle || status.code() == Code::device_closed;
  return ended && !m_gate.current(generation) ? Status() : std::move(status);
}

Status ManagedDevice::deallocate(void* memory) {
  if (memory == nullptr) return {};
  GANTRY_TRY_ASSIGN(MemoryPool * pool, forget(m_open_generation, memory));
  return pool->free(memory);
}

/// Takes memory off the list of what the program holds; the pool that it goes back to.
Result<MemoryPool*> ManagedDevice::forget(std::uint32_t generation, void* memory) {
  GANTRY_TRY_ASSIGN(const ObjectKind kind, m_environment.live.remove_memory({m_id, generation}, memory));
  return &this->memory(memory_kind(kind)).pool;
}

void ManagedDevice::free_deferred(void* argument) {
  const std::unique_ptr<DeferredFree> free(static_cast<DeferredFree*>(argument));
  // Where the open period has ended, or a close of it is under way, the pool takes the memory back as it closes.
  if (const DeviceCall call(*free->gate, free->generation); call) log_error(free->pool->free(free->memory));
}

Result<std::size_t> ManagedDevice::trim(std::uint32_t generation) {
  return with_device(m_gate, generation, [&]() -> Result<std::size_t> {
    std::size_t bytes = 0;
    for (auto& memory : m_memory) bytes += memory->pool.trim();
    return bytes;
  });
}

Status ManagedDevice::fence() {
  return while_open([&] {
    Status status = wait_for_queues();
    status.join(poison_once());
    return status;
  });
}

Status ManagedDevice::wait() {
  return while_open([&] { return wait_for_queues(); });
}

void ManagedDevice::flush_output() {
  const DeviceCall call(m_gate, generation());
  if (call) m_device->flush_calls(m_environment.close_timeout);
}

/// Runs `work` inside the open period that is; ok when there is none. Does nothing inside a kernel or host function.
template <class Work>
Status ManagedDevice::while_open(Work&& work) {
  if (execution_context() != nullptr) return {};
  const std::uint32_t open = generation();
  do {
    if (const DeviceCall call(m_gate, open); call) return work();
  } while (await_decision(m_gate, open));
  return {};
}

/// Inside the device; and for what their work has called. The error of work that failed is not this call's.
Status ManagedDevice::wait_for_queues() {
  Status status;
  if (!m_default_queue->idle()) status.join(m_default_queue->sync());
  if (!m_queues.empty()) {
    for (ManagedQueue* queue : m_queues.pin([](const Queue& candidate) { return !candidate.idle(); })) {
      status.join(queue->target->sync());
      release(*queue);
    }
  }
  m_device->flush_calls(std::chrono::nanoseconds::max());
  return std::move(status).without(Code::kernel_error);
}

Status ManagedDevice::told(Status status) {
  if (status.code() != Code::kernel_error) return status;
  Status poison = m_device->poison();
  if (poison.ok()) return status;                     // the caller's own: a body that cannot be copied
  if (execution_context() != nullptr) return poison;  // told to work that fails of it: nobody has heard
  if (!m_poison_told.exchange(true)) return poison;
  return Status::error(Code::poisoned, "an earlier error made the device unusable: " + poison.text());
}

Status ManagedDevice::poison_once() {
  Status poison = m_device->poison();
  if (poison.ok() || m_poison_told.exchange(true)) return {};
  return poison;
}

Status ManagedDevice::reap() {
  return m_queues.reap(reap_limit, [](const Queue& queue) { return queue.idle(); });
}

void ManagedDevice::release(ManagedQueue& queue) noexcept {
  if (in_forked_child()) return;
  const std::uint32_t generation = queue.generation;
  bool last = false;
  m_queues.release(queue, [&](ManagedQueue& gone) {
    m_environment.live.remove(ObjectKind::queue, &gone);
    last = true;
  });
  if (!last || execution_context() != nullptr) return;
  const DeviceCall call(m_gate, generation);
  if (call) log_error(reap());
}

void ManagedDevice::release(ManagedEvent& event) noexcept {
  if (in_forked_child()) return;
  const std::uint32_t generation = event.generation;
  bool last = false;
  m_events.release(event, [&](ManagedEvent& gone) {
    m_environment.live.remove(ObjectKind::event, &gone);
    last = true;
  });
  if (!last) return;
  const DeviceCall call(m_gate, generation);
  if (call) log_error(m_events.reap(reap_limit, [](const Event&) { return true; }));
}

DeviceState ManagedDevice::state() const {
  const DeviceState state = m_state.load();
  if (state != DeviceState::ready) return state;
  const std::uint32_t open = m_gate.admitted.load();
  const DeviceCall call(m_gate, open);
  return open != 0 && call && poisoned() ? DeviceState::poisoned : state;
}

DeviceStatus ManagedDevice::status() const {
  DeviceStatus status{.info = m_info, .state = state(), .generation = generation(), .selection = {}};
  const std::uint32_t open = m_gate.admitted.load();
  const DeviceCall call(m_gate, open);
  if (open != 0 && call) {
    for (const auto& memory : m_memory) {
      const MemoryPoolStatistics statistics = memory->pool.statistics();
      status.used_bytes += statistics.used_bytes;
      status.cached_bytes += statistics.cached_bytes;
      status.peak_bytes += statistics.peak_bytes;
    }
  }
  return status;
}

}  // namespace gantry
