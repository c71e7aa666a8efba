// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <backends/host/cost.hpp>
#include <backends/host/engine.hpp>
#include <backends/host/futex.hpp>
#include <backends/host/slot_lease.hpp>
#include <backends/host/stream.hpp>
#include <backends/host/stream_inline.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <thread>
#include <utility>

namespace gantry::host {
namespace {

/// Commands that may wait in one stream before a launch waits for room.
constexpr std::size_t depth_limit = 1024;
/// A launch that waits for room goes on without it when nothing has completed for so long: what the stream waits for
/// may be the launching thread itself.
constexpr std::chrono::milliseconds stall_limit{20};
/// From so many items a slot on, a slot's part is cut into several shares that other threads can take over.
constexpr std::int64_t items_to_cut = 32768;
constexpr std::int64_t cuts = 4;
/// From so many nanoseconds a share on, another thread is woken for the launching thread's part.
constexpr float long_share = 20'000;

}  // namespace

constinit thread_local char Stream::t_here = 0;

Stream::Stream(Engine& engine, const Queue& queue, QueueOptions options)
    : m_engine(engine),
      m_queue(queue),
      m_options(std::move(options)),
      m_plain_limit(engine.options.strict || engine.protection != nullptr ? Cost::unknown
                                                                          : engine.options.inline_limit) {}

Stream::~Stream() {
  for (Command** list : {&m_first, &m_spare}) {
    while (Command* command = *list) {
      *list = command->next;
      delete command;
    }
  }
  delete m_running;
}

bool Stream::runs_inline() const noexcept {
  return m_engine.slots.runs_inline(*this);
}

/// Takes the lock (`held`: the caller has it already) and waits for an inline kernel. False when that is the caller's.
bool Stream::lock_slowly(bool& held) noexcept {
  for (int polls = 0;; ++polls) {
    if (m_inline_thread.load(std::memory_order_relaxed) == this_thread()) return false;
    if (!held && !m_held.load(std::memory_order_relaxed)) held = !m_held.exchange(true, std::memory_order_seq_cst);
    if (held && !runs_inline()) return true;
    if (polls < 100) {
      pause();
    } else {
      std::this_thread::yield();
    }
  }
}

/// A function of the launch and the device alone: what a body adds up share by share is the same in every run.
std::uint32_t Stream::shares_for(std::int64_t count) const noexcept {
  const std::int64_t slots = m_engine.options.slots;
  if (count <= slots) return static_cast<std::uint32_t>(count);
  const std::int64_t shares = count >= items_to_cut * slots ? cuts * slots : slots;
  return static_cast<std::uint32_t>(std::min<std::int64_t>(shares, Lane::max_shares));
}

/// The inline rule: work that one thread is expected to finish within `inline_limit` is not spread, and runs on the
/// thread that owns the stream (the launching one when the stream is idle). Kernels of unknown cost are spread.
bool Stream::tiny(std::int64_t count, float estimate) const noexcept {
  return (estimate >= 0 && estimate <= m_engine.options.inline_limit) || count == 0;
}

/// Whether threads that launch or fence may run it.
bool Stream::helpers_run(const Launch& launch) const noexcept {
  return !launch.heavy && !m_engine.options.strict;
}

Job Stream::make_job(const KernelInfo& kernel, const Launch& launch, const void* body, std::uint32_t shares,
                     float estimate) const noexcept {
  Job job;
  job.kernel = &kernel;
  job.body = body;
  job.count = launch.count;
  if (launch.schedule == Schedule::dynamic) {
    const std::int64_t fair = launch.count / (std::int64_t{16} * m_engine.options.slots);
    job.chunk = launch.chunk > 0 ? launch.chunk : std::max<std::int64_t>(fair, 1);
  }
  job.sample = Cost::wanted(kernel, m_launches);
  job.wants_all = estimate < 0 || estimate > long_share * static_cast<float>(shares);
  return job;
}

Status Stream::launch(const KernelInfo& kernel, const Launch& launch, const void* body, float estimate) {
  if (m_engine.fault.is_set()) [[unlikely]]
    return m_engine.fault.report();
  if (tiny(launch.count, estimate) && helpers_run(launch) && run_inline(kernel, launch, body, estimate)) return {};
  return launch_to_workers(kernel, launch, body, estimate);
}

/// Runs a kernel on the launching thread, on the caller's body. False, with nothing done, when the stream is not idle
/// or no thread slot is free.
bool Stream::run_inline(const KernelInfo& kernel, const Launch& launch, const void* body, float estimate) {
  if (m_busy.load(std::memory_order_relaxed)) return false;
  if (execution_context() == nullptr && m_engine.slots.take_for(*this)) [[likely]] {
    const bool free = !m_held.load(std::memory_order_seq_cst) && !m_busy.load(std::memory_order_acquire);
    if (free) [[likely]]
      run_tiny(kernel, launch, body, estimate, 0);
    m_engine.slots.give_back(0);
    return free;
  }
  const Lock lock(*this);
  if (m_busy.load(std::memory_order_relaxed) || lock.nested()) return false;
  const SlotLease slot(m_engine);
  if (!slot) return false;
  run_tiny(kernel, launch, body, estimate, slot.number());
  return true;
}

void Stream::run_tiny(const KernelInfo& kernel, const Launch& launch, const void* body, float estimate, int slot) {
  ++m_launches;
  m_inline_thread.store(this_thread(), std::memory_order_relaxed);
  run_whole(kernel, launch, body, estimate, slot, launch.label);
  end_inline();
}

Status Stream::launch_to_workers(const KernelInfo& kernel, const Launch& launch, const void* body, float estimate) {
  {
    Lock lock(*this);
    if (!m_busy.load(std::memory_order_relaxed) && !lock.nested() && launch.count > 0) [[likely]] {
      ++m_launches;
      if (m_lane == nullptr) [[unlikely]]
        m_lane = m_engine.lanes.bind(*this);
      if (m_lane != nullptr) {
        const std::uint32_t shares = shares_for(launch.count);
        if (Status status = launch_on_lane(kernel, launch, body, estimate); !status.ok()) return status;
        lock.unlock();
        m_engine.ring(shares, !helpers_run(launch));
        return {};
      }
    }
  }
  return enqueue(Command::Kind::kernel, [&](Command& command) {
    command.kernel = &kernel;
    command.launch = launch;
    command.estimate = estimate;
    command.label = launch.label;
    command.body = command.storage.room(kernel);
    BodyStorage::copy(kernel, command.body, body);
  });
}

/// The stream is idle and locked; its ownership passes to the job.
Status Stream::launch_on_lane(const KernelInfo& kernel, const Launch& launch, const void* body, float estimate) {
  const std::uint32_t shares = shares_for(launch.count);
  const bool small = kernel.size <= Lane::small_body_bytes && kernel.align <= Lane::small_body_align;
  Job job = make_job(kernel, launch, nullptr, shares, estimate);
  void* copy = m_lane->small_body();
  try {
    give_scratch(job, shares, launch.share_scratch);
    if (!small) copy = m_large_body.room(kernel);
    BodyStorage::copy(kernel, copy, body);
  } catch (const std::exception& error) {
    return Status::error(Code::out_of_memory, fmt::format("launching kernel '{}': {}", kernel.type, error.what()));
  }
  job.body = copy;
  set_current(kernel, launch, copy, shares, launch.label);
  m_busy.store(true, std::memory_order_relaxed);
  m_submitted.store(m_submitted.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  publish(job);
  return {};
}

/// Appends a command that `fill` completes. The caller starts an idle stream.
template <class Fill>
Status Stream::enqueue(Command::Kind kind, Fill&& fill) {
  for (bool wait_for_room = true;;) {
    {
      Lock lock(*this);
      if (m_depth < depth_limit || !wait_for_room) {
        std::unique_ptr<Command> command(std::exchange(m_spare, m_spare != nullptr ? m_spare->next : nullptr));
        try {
          if (command == nullptr) command = std::make_unique<Command>();
          command->kind = kind;
          command->next = nullptr;
          fill(*command);
        } catch (const std::exception& error) {
          return Status::error(Code::out_of_memory, fmt::format("enqueueing work on queue {} of {}: {}", m_options.id,
                                                                m_options.device_name, error.what()));
        }
        Command* added = command.release();
        (m_first == nullptr ? m_first : m_last->next) = added;
        m_last = added;
        ++m_depth;
        m_submitted.store(m_submitted.load(std::memory_order_relaxed) + 1, std::memory_order_release);
        const bool busy = m_busy.load(std::memory_order_relaxed);
        m_busy.store(true, std::memory_order_relaxed);
        if (busy || lock.nested()) return {};  // who goes on with the stream, or runs inline, gets there
        break;
      }
    }
    wait_for_room = make_room();
  }
  go_on(Owner{}, false);
  return {};
}

/// False when the stream stalls, or when the caller runs work itself that the stream may be waiting for.
bool Stream::make_room() noexcept {
  if (execution_context() != nullptr) return false;
  const std::uint64_t target = m_submitted.load(std::memory_order_acquire) - depth_limit / 2;
  for (;;) {
    const std::uint64_t before = m_completed.load(std::memory_order_acquire);
    if (wait_for(target, std::chrono::steady_clock::now() + stall_limit, true)) return true;
    if (m_completed.load(std::memory_order_acquire) == before) return false;
  }
}

Status Stream::record(std::shared_ptr<EventState> event) {
  if (m_engine.fault.is_set()) [[unlikely]]
    return m_engine.fault.report();
  bool due = false;
  std::uint64_t ticket = 0;
  {
    Lock lock(*this);
    due = !m_busy.load(std::memory_order_relaxed) && !lock.nested();
    if (due) ticket = event->take_ticket();
  }
  if (due) {
    event->reach(ticket);
    return {};
  }
  return enqueue(Command::Kind::record, [&](Command& command) {
    command.ticket = event->take_ticket();
    command.event = std::move(event);
  });
}

Status Stream::wait(std::shared_ptr<EventState> event) {
  if (m_engine.fault.is_set()) [[unlikely]]
    return m_engine.fault.report();
  const std::uint64_t ticket = event->last_ticket();
  if (event->reached(ticket)) return {};
  return enqueue(Command::Kind::wait, [&](Command& command) {
    command.ticket = ticket;
    command.event = std::move(event);
  });
}

Status Stream::host_function(void (*function)(void*), void* argument) {
  if (m_engine.fault.is_set()) [[unlikely]]
    return m_engine.fault.report();
  return enqueue(Command::Kind::host_function, [&](Command& command) {
    command.function = function;
    command.argument = argument;
  });
}

Status Stream::sync() {
  if (const ExecutionContext* context = execution_context(); context != nullptr && context->queue == &m_queue)
      [[unlikely]]
    return Status::error(Code::refused, fmt::format("queue {} of {} was asked to wait for work from inside that work",
                                                    m_options.id, m_options.device_name));
  const std::uint64_t target = m_submitted.load(std::memory_order_acquire);
  if (m_completed.load(std::memory_order_acquire) < target) wait_for(target, Time::max(), true);
  return m_engine.fault.report();
}

bool Stream::wait_until_idle(Time deadline) {
  return wait_for(m_submitted.load(std::memory_order_acquire), deadline, false);
}

bool Stream::wait_for(std::uint64_t target, Time deadline, bool help) {
  using Clock = std::chrono::steady_clock;
  Time spin_end{};
  for (int polls = 0;; ++polls) {
    const std::uint64_t completed = m_completed.load(std::memory_order_acquire);
    if (completed >= target) return true;
    if (help && attach()) {
      collect(target);
      polls = 0;
      continue;
    }
    pause();
    if (polls % 64 != 63) continue;
    const Time now = Clock::now();
    if (now >= deadline) return false;
    if (polls == 63) spin_end = now + m_engine.options.spin;
    if (now < spin_end) continue;
    {
      Lock lock(*this);
      if (m_completed.load(std::memory_order_relaxed) != completed ||
          (help && m_attachable.load(std::memory_order_relaxed)))
        continue;
      m_waiters = true;
    }
    const auto patience = deadline == Time::max() ? std::chrono::nanoseconds(-1) : deadline - now;
    futex_wait(low_half(m_completed), static_cast<std::uint32_t>(completed), patience);
  }
}

bool Stream::give_up_lane() noexcept {
  if (m_held.exchange(true, std::memory_order_seq_cst)) return false;  // no waiting: the caller holds locks
  const bool idle = !m_busy.load(std::memory_order_relaxed) && !runs_inline();
  if (idle) m_lane = nullptr;
  m_held.store(false, std::memory_order_release);
  return idle;
}

void Stream::close() noexcept {
  { const Lock last_owner_is_gone(*this); }
  m_engine.lanes.unbind(*this);
  m_lane = nullptr;
}

}  // namespace gantry::host
