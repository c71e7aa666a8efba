// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <backends/host/cost.hpp>
#include <backends/host/engine.hpp>
#include <backends/host/event.hpp>
#include <backends/host/slot_lease.hpp>
#include <backends/host/stream.hpp>
#include <backends/host/stream_inline.hpp>
#include <gantry/base/futex.hpp>
#include <gantry/base/spin_lock.hpp>
#include <gantry/base/try.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <utility>

namespace gantry::host {
namespace {

/// Runs `work`, which copies what a launch was given: out of memory, and whatever else a body's own copying throws.
template <class Work, class Where>
Status copied(Work&& work, Where&& where) {
  try {
    work();
    return {};
  } catch (const std::bad_alloc& error) {
    return Status::error(Code::out_of_memory, fmt::format("{}: {}", where(), error.what()));
  } catch (const std::exception& error) {
    return Status::error(Code::kernel_error, fmt::format("{}: {}", where(), error.what()));
  } catch (...) {
    return Status::error(Code::kernel_error,
                         fmt::format("{}: copying threw something that is no std::exception", where()));
  }
}

/// Commands that may wait in one stream before a launch waits for room.
constexpr std::size_t depth_limit = 1024;
/// A launch that waits for room goes on without it when nothing has completed for so long, and so do all after it until
/// something has: what the stream waits for may be the launching thread itself.
constexpr std::chrono::milliseconds stall_limit{20};
/// From so many items a slot on, a slot's part is cut into several shares that other threads can take over.
constexpr std::int64_t items_to_cut = 32768;
constexpr std::int64_t cuts = 4;
/// From so many nanoseconds a share on, another thread is woken for the launching thread's part.
constexpr float long_share = 20'000;
constexpr std::uint32_t scratch_alignment = 64;

constexpr std::uint32_t scratch_stride(std::uint32_t share_bytes) noexcept {
  return (share_bytes + scratch_alignment - 1) & ~(scratch_alignment - 1);
}

}  // namespace

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

/// Takes the lock (`held`: the caller has it already) and waits for an inline kernel.
void Stream::lock_slowly(bool& held) noexcept {
  for (int polls = 0;; ++polls) {
    if (!held && !m_held.load(std::memory_order_relaxed)) held = !m_held.exchange(true, std::memory_order_seq_cst);
    if (held && !runs_inline()) return;
    SpinLock::wait(polls);
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

/// Scratch for make_job; std::bad_alloc when there is none.
void Stream::make_scratch(std::uint32_t shares, std::uint32_t share_bytes) {
  if (share_bytes == 0) return;
  const std::uint64_t bytes = std::uint64_t{scratch_stride(share_bytes)} * shares + scratch_alignment;
  if (bytes <= m_scratch_bytes) return;
  m_scratch_bytes = 0;
  m_scratch.reset();
  m_scratch.reset(new char[bytes]);
  m_scratch_bytes = bytes;
}

Job Stream::make_job(const KernelInfo& kernel, const Launch& launch, const void* body, std::uint32_t shares,
                     float estimate) noexcept {
  Job job;
  job.kernel = &kernel;
  job.body = body;
  job.count = launch.count;
  if (launch.schedule == Schedule::dynamic) {
    const std::int64_t fair = launch.count / (std::int64_t{16} * m_engine.options.slots);
    job.chunk = launch.chunk > 0 ? launch.chunk : std::max<std::int64_t>(fair, 1);
  }
  if (launch.share_scratch != 0) {
    const auto address = reinterpret_cast<std::uintptr_t>(m_scratch.get());
    job.scratch = m_scratch.get() + ((scratch_alignment - address % scratch_alignment) % scratch_alignment);
    job.scratch_stride = scratch_stride(launch.share_scratch);
  }
  job.sample = Cost::wanted(kernel, ++m_launches, launch.count, shares);
  job.wants_all = estimate < 0 || estimate > long_share * static_cast<float>(shares);
  return job;
}

Status Stream::launch(const KernelInfo& kernel, const Launch& launch, const void* body, float estimate) {
  if (m_engine.fault.is_set()) [[unlikely]]
    return m_engine.fault.error();
  if (tiny(launch.count, estimate) && helpers_run(launch) && run_inline(kernel, launch, body, estimate)) return {};
  return launch_to_workers(kernel, launch, body, estimate);
}

/// Runs a kernel on the launching thread, on the caller's body. False, with nothing done, when the stream is not idle
/// or no thread slot is free.
bool Stream::run_inline(const KernelInfo& kernel, const Launch& launch, const void* body, float estimate) {
  if (m_busy.load(std::memory_order_relaxed)) return false;
  if (m_engine.slots.take_for(*this)) [[likely]] {
    Engine& engine = m_engine;
    const bool free = !m_held.load(std::memory_order_seq_cst) && !m_busy.load(std::memory_order_acquire);
    if (free) [[likely]]
      run_tiny(kernel, launch, body, estimate, 0);
    engine.slots.give_back(0);  // the stream may be gone
    return free;
  }
  const Lock lock(*this);
  if (m_busy.load(std::memory_order_relaxed)) return false;
  const SlotLease slot(m_engine);
  if (!slot) return false;
  run_tiny(kernel, launch, body, estimate, slot.number());
  return true;
}

void Stream::run_tiny(const KernelInfo& kernel, const Launch& launch, const void* body, float estimate, int slot) {
  m_runs_inline.store(true, std::memory_order_relaxed);
  run_whole(kernel, launch, body, estimate, slot, launch.label);
  end_inline();
}

/// Copies a body, under the lock: as work of the stream, since copying that waited for the stream, or launched on it,
/// would wait for itself.
void Stream::copy_body(const KernelInfo& kernel, void* to, const void* body) {
  if (kernel.copy == nullptr) {
    std::memcpy(to, body, kernel.size);
    return;
  }
  const WorkFrame frame(&kernel, &m_queue, ExecutionContext::no_slot, m_deferred);
  kernel.copy(to, body);
}

Status Stream::launch_to_workers(const KernelInfo& kernel, const Launch& launch, const void* body, float estimate) {
  {
    Lock lock(*this);
    if (!m_busy.load(std::memory_order_relaxed) && launch.count > 0 && bind_lane()) [[likely]] {
      const std::uint32_t shares = shares_for(launch.count);
      const bool small = kernel.size <= Lane::small_body_bytes && kernel.align <= Lane::small_body_align;
      void* copy = m_lane->small_body();
      GANTRY_TRY(copied(
          [&] {
            make_scratch(shares, launch.share_scratch);
            if (!small) copy = m_large_body.room(kernel);
            copy_body(kernel, copy, body);
          },
          [&] { return fmt::format("launching kernel '{}'", kernel.type); }));
      m_busy.store(true, std::memory_order_relaxed);
      m_submitted.store(m_submitted.load(std::memory_order_relaxed) + 1, std::memory_order_release);
      Engine& engine = m_engine;
      const bool all_slots = !helpers_run(launch);
      put_on_lane(kernel, launch, copy, shares, estimate, launch.label);
      lock.unlock();
      engine.ring(shares, all_slots);  // the stream may be gone
      return {};
    }
  }
  return enqueue(Command::Kind::kernel, [&](Command& command) {
    command.kernel = &kernel;
    command.launch = launch;
    command.estimate = estimate;
    command.label = launch.label;
    command.body = command.storage.room(kernel);
    copy_body(kernel, command.body, body);
  });
}

/// Appends a command that `fill` completes. The caller starts an idle stream.
template <class Fill>
Status Stream::enqueue(Command::Kind kind, Fill&& fill) {
  std::optional<Inside> inside;
  for (bool wait_for_room = true;;) {
    {
      Lock lock(*this);
      if (m_depth < depth_limit || !wait_for_room) {
        std::unique_ptr<Command> command(std::exchange(m_spare, m_spare != nullptr ? m_spare->next : nullptr));
        GANTRY_TRY(copied(
            [&] {
              if (command == nullptr) command = std::make_unique<Command>();
              command->kind = kind;
              command->next = nullptr;
              fill(*command);
            },
            [&] {
              return fmt::format("enqueueing {} on queue {} of {}",
                                 kind == Command::Kind::kernel && command != nullptr && command->kernel != nullptr
                                     ? fmt::format("kernel '{}'", command->kernel->type)
                                     : "work",
                                 m_options.id, m_options.device_name);
            }));
        Command* added = command.release();
        (m_first == nullptr ? m_first : m_last->next) = added;
        m_last = added;
        ++m_depth;
        m_submitted.store(m_submitted.load(std::memory_order_relaxed) + 1, std::memory_order_release);
        const bool busy = m_busy.load(std::memory_order_relaxed);
        m_busy.store(true, std::memory_order_relaxed);
        if (busy) return {};  // who goes on with the stream gets there
        break;
      }
    }
    if (!inside) inside.emplace(*this);
    wait_for_room = make_room();
  }
  go_on(Owner{}, false);
  return {};
}

/// False when the stream stalls.
bool Stream::make_room() {
  const std::uint64_t target = m_submitted.load(std::memory_order_acquire) - depth_limit / 2;
  for (;;) {
    const std::uint64_t before = m_completed.load(std::memory_order_acquire);
    if (before == m_stalled_at.load(std::memory_order_relaxed)) return false;
    if (wait_for(target, std::chrono::steady_clock::now() + stall_limit, true)) return true;
    if (m_completed.load(std::memory_order_acquire) == before) m_stalled_at.store(before, std::memory_order_relaxed);
  }
}

Status Stream::record(HostEvent& event) {
  if (m_engine.fault.is_set()) [[unlikely]]
    return m_engine.fault.error();
  {
    const Lock lock(*this);
    if (!m_busy.load(std::memory_order_relaxed)) {
      event.set_state(nullptr);
      return {};
    }
  }
  return enqueue(Command::Kind::record, [&](Command& command) {
    command.event = std::make_shared<EventState>();
    event.set_state(command.event);
  });
}

Status Stream::wait(const HostEvent& event) {
  if (m_engine.fault.is_set()) [[unlikely]]
    return m_engine.fault.error();
  std::shared_ptr<EventState> record = event.state();
  if (record == nullptr || record->reached()) return {};
  return enqueue(Command::Kind::wait, [&](Command& command) { command.event = std::move(record); });
}

Status Stream::host_function(void (*function)(void*), void* argument) {
  if (m_engine.fault.is_set()) [[unlikely]]
    return m_engine.fault.error();
  GANTRY_TRY(m_engine.functions.start());
  return enqueue(Command::Kind::host_function, [&](Command& command) {
    command.function = function;
    command.argument = argument;
  });
}

Status Stream::sync() {
  const std::uint64_t target = m_submitted.load(std::memory_order_acquire);
  if (m_completed.load(std::memory_order_acquire) >= target) return m_engine.fault.error();
  const Inside helper(*this);
  wait_for(target, Time::max(), true);
  return m_engine.fault.error();
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
    cpu_pause();
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

/// Under the lock. False: no lane is free.
bool Stream::bind_lane() noexcept {
  if (m_lane == nullptr) [[unlikely]]
    m_lane = m_engine.lanes.bind(*this);
  return m_lane != nullptr;
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
