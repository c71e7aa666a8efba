// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/base/log.hpp>
#include <gantry/base/try.hpp>
#include <gantry/core/execution_context.hpp>
#include <gantry/core/exit.hpp>
#include <gantry/core/managed_device.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

namespace gantry {

// Opening goes down this table, closing goes up. A step that has nothing to undo, or to do, says so with null.
constexpr std::array<ManagedDevice::Step, 7> ManagedDevice::steps{{
    {"device", &ManagedDevice::open_device, &ManagedDevice::close_device, false},
    {"events", nullptr, &ManagedDevice::close_events, false},
    {"queues", &ManagedDevice::open_default_queue, &ManagedDevice::close_queues, false},
    {"memory", &ManagedDevice::open_memory, &ManagedDevice::close_memory, false},
    {"leak report", nullptr, &ManagedDevice::report_leaks, true},
    {"calls", &ManagedDevice::open_calls, &ManagedDevice::close_calls, true},
    {"running work", nullptr, &ManagedDevice::drain, true},
}};

namespace {

DeviceGate& gate_of(DeviceId id, ManagedDevice* device) {
  DeviceGate* gate = DeviceGate::acquire(id, device);
  if (gate != nullptr) return *gate;
  log(LogLevel::error, fmt::format("more than {} devices in one process", DeviceGate::count));
  std::abort();
}

std::string named(const char* step) {
  return fmt::format("step '{}'", step);
}

}  // namespace

ManagedDevice::ManagedDevice(DeviceId id, Backend& backend, DeviceInfo info, const Environment& environment)
    : m_id(id), m_backend(backend), m_info(std::move(info)), m_environment(environment), m_gate(gate_of(id, this)) {}

ManagedDevice::~ManagedDevice() {
  LeakReport leaked;
  if (Status status = close(CloseMode::force, leaked); !status.ok()) log(LogLevel::error, status.message());
  DeviceGate::release(m_gate);
}

ManagedDevice::Memory::Memory(Device& device, MemoryKind kind, const std::string& device_name)
    : source(device, kind),
      pool(source, MemoryPoolOptions{.name = fmt::format("{} {} memory", device_name, memory_kind_name(kind)),
                                     .granularity = device.memory_traits(kind).granularity,
                                     .host_addressable = device.memory_traits(kind).host_addressable}) {}

Result<DeviceHandle> ManagedDevice::open() {
  if (in_forked_child()) return forked_child_error();
  if (const std::uint32_t open = m_gate.admitted.load(); open != 0) return DeviceHandle{m_id, open};
  if (const ExecutionContext* context = execution_context();
      context != nullptr && context->kind != ExecutionContext::Kind::call_handler) {
    return Status::error(Code::refused,
                         fmt::format("{} cannot be opened inside a kernel or host function", m_info.name));
  }
  // Of the close before, so not the caller's; told once the lock is free, since who is told may call in.
  struct Unfinished {
    Status status;
    ~Unfinished() { fail_exit(status); }
  } unfinished;
  const std::lock_guard lock(m_lifecycle);
  if (const std::uint32_t open = m_gate.admitted.load(); open != 0) return DeviceHandle{m_id, open};
  if (m_opened != 0) {
    Status status = undo(m_opened).with_context(fmt::format("opening {}: its last close is not finished", m_info.name));
    if (m_opened != 0) return status;
    unfinished.status = std::move(status);
  }
  m_state.store(DeviceState::opening);
  for (const Step& step : steps) {
    Status status = step.open != nullptr ? (this->*step.open)() : Status();
    if (!status.ok()) {
      Status failure = std::move(status).with_context(fmt::format("opening {}: {}", m_info.name, named(step.name)));
      failure.join(undo(m_opened));
      return failure;
    }
    ++m_opened;
  }
  m_poison_told.store(false);
  m_state.store(DeviceState::ready);
  m_gate.admitted.store(generation());
  return DeviceHandle{m_id, generation()};
}

Status ManagedDevice::close(CloseMode mode, LeakReport& leaked) {
  if (in_forked_child()) return forked_child_error();
  if (const ExecutionContext* context = execution_context();
      context != nullptr && (context->kind != ExecutionContext::Kind::call_handler || context->device == m_id)) {
    return Status::error(Code::refused, fmt::format("{} cannot be closed inside a kernel or host function, or by the "
                                                    "handler of one of its own calls: it would wait for that",
                                                    m_info.name));
  }
  const std::lock_guard lock(m_lifecycle);
  if (m_opened == 0) return {};
  Status status;
  if (m_gate.admitted.load() != 0) {
    status = stop_calls(mode);
    if (status.code() == Code::busy) return status;
  }
  m_state.store(DeviceState::closing);
  status.join(undo(m_opened).with_context(fmt::format("closing {}", m_info.name)));
  std::move(m_leaked.objects.begin(), m_leaked.objects.end(), std::back_inserter(leaked.objects));
  m_leaked.objects.clear();
  return status;
}

/// Ends the open period: no call is inside, and none comes in any more. `busy`: nothing was changed.
Status ManagedDevice::stop_calls(CloseMode mode) {
  const std::uint32_t open = generation();
  const bool forced = mode == CloseMode::force;
  if (!forced) {
    if (const LeakReport held = m_environment.live.snapshot(m_id); !held.empty()) return busy(held);
    m_gate.deciding.store(open);
  }
  m_gate.admitted.store(0);
  rundown_publish();
  m_work_runs = !rundown_wait(m_gate.lane(), std::chrono::steady_clock::now() + m_environment.close_timeout);
  Status status;
  if (m_work_runs) {
    status = Status::error(forced ? Code::timeout : Code::busy,
                           fmt::format("{}: calls of other threads did not return within {} s", m_info.name,
                                       std::chrono::duration<double>(m_environment.close_timeout).count()));
  } else if (!forced) {
    if (const LeakReport held = m_environment.live.snapshot(m_id); !held.empty()) status = busy(held);
  }
  if (status.code() == Code::busy) {
    m_work_runs = false;
    m_gate.admitted.store(open);
  } else {
    m_gate.generation.store(open + 1);
  }
  m_gate.deciding.store(0);
  return status;
}

/// Closes the first `count` steps, the last one first. All of them run, whatever fails, except those that would pull
/// memory from under work that still runs: these are left for the next attempt, and the device is poisoned.
Status ManagedDevice::undo(std::size_t count) {
  Status status;
  for (std::size_t i = count; i-- > 0;) {
    const Step& step = steps[i];
    if (step.close == nullptr || (m_work_runs && !step.while_work_runs)) continue;
    // A driver that is gone already has taken everything with it: no error.
    status.join((this->*step.close)().without(Code::unavailable).with_context(named(step.name)));
  }
  if (!m_work_runs) m_opened = 0;
  m_state.store(m_work_runs ? DeviceState::poisoned : DeviceState::closed);
  return status;
}

Status ManagedDevice::busy(const LeakReport& held) const {
  return Status::error(Code::busy, fmt::format("{} is in use: {}", m_info.name, held.to_text()));
}

Status ManagedDevice::open_device() {
  GANTRY_TRY_ASSIGN(m_device, m_backend.open(m_info, m_environment.resources));
  m_gate.concurrency.store(m_device->concurrency());
  return {};
}

Status ManagedDevice::close_device() {
  Status status = m_device->close();
  m_device.reset();
  return status;
}

Status ManagedDevice::close_events() {
  return m_events.close_all();
}

Status ManagedDevice::open_default_queue() {
  GANTRY_TRY_ASSIGN(m_default_queue, m_device->create_queue({m_gate.default_queue_id(), "default", m_info.name}));
  m_gate.default_queue.store(m_default_queue.get());
  return {};
}

Status ManagedDevice::close_queues() {
  Status status = m_queues.close_all();
  m_gate.default_queue.store(nullptr);
  status.join(m_default_queue->close());
  m_default_queue.reset();
  return status;
}

Status ManagedDevice::open_memory() {
  for (const MemoryKind kind : {MemoryKind::device, MemoryKind::pinned}) {
    m_memory[static_cast<std::size_t>(kind)].emplace(*m_device, kind, m_info.name);
  }
  return {};
}

Status ManagedDevice::close_memory() {
  Status status;
  for (auto& memory : m_memory) {
    status.join(memory->pool.close());
    memory.reset();
  }
  return status;
}

Status ManagedDevice::report_leaks() {
  LeakReport left = m_environment.live.remove_all(m_id);
  std::move(left.objects.begin(), left.objects.end(), std::back_inserter(m_leaked.objects));
  return {};
}

Status ManagedDevice::open_calls() {
  m_open_generation = generation();
  return m_device->open_calls(*this);
}

Status ManagedDevice::close_calls() {
  Status status = m_device->close_calls(m_environment.close_timeout);
  if (status.code() == Code::timeout) m_work_runs = true;  // a handler, which may use the device
  return status;
}

Status ManagedDevice::drain() {
  // Calls that did not return may still add work, so only an empty lane makes an empty device final.
  if (m_work_runs) {
    m_work_runs = !rundown_wait(m_gate.lane(), std::chrono::steady_clock::now());
  }
  Status status = m_device->drain(m_environment.close_timeout);
  if (status.code() == Code::timeout && m_device->abort_calls())  // what it waited for may have been an answer
    status = m_device->drain(m_environment.close_timeout);
  if (status.code() == Code::timeout) {
    m_work_runs = true;
  } else {
    status.join(poison_once());  // of work that nobody waited for
  }
  if (m_work_runs) {
    status.join(
        Status::error(Code::poisoned,
                      "work still runs: the memory and threads that it uses stay as they are, and the device is "
                      "poisoned until a later open or close finds that the work has ended"));
  }
  return status;
}

}  // namespace gantry
