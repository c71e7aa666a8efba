// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the owner of a stream does: the second half of Stream.
#include <backends/host/cost.hpp>
#include <backends/host/engine.hpp>
#include <backends/host/guarded.hpp>
#include <backends/host/slot_lease.hpp>
#include <backends/host/stream.hpp>
#include <gantry/base/futex.hpp>
#include <gantry/base/printable.hpp>
#include <gantry/base/spin_lock.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

namespace gantry::host {
namespace {

using Clock = std::chrono::steady_clock;

/// Polls of a collector before it takes shares that nobody has started: a few round trips between two cores.
constexpr int patience = 64;

void call_host(const Job& job, std::uint32_t share, std::uint32_t shares, int slot, std::atomic<std::int64_t>& cursor) {
  HostWorker worker;
  worker.slot = static_cast<std::uint32_t>(slot);
  worker.share = share;
  worker.shares = shares;
  worker.phase = job.phase;
  worker.scratch = job.scratch + std::uint64_t{share} * job.scratch_stride;
  worker.count = job.count;
  if (job.chunk > 0) {
    worker.cursor = &cursor;
    worker.chunk = job.chunk;
  } else {
    worker.range = job.range(share, shares);
  }
  job.kernel->host(job.body, worker);
}

void call_join(const Job& job, std::uint32_t shares, void* result) {
  HostJoin join;
  join.phase = job.phase;
  join.shares = shares;
  join.scratch = job.scratch;
  join.scratch_stride = job.scratch_stride;
  join.result = result;
  job.kernel->host_join(job.body, join);
}

}  // namespace

// -- running kernels

/// A kernel whose shares all run here, on the caller's body.
void Stream::run_whole(const KernelInfo& kernel, const Launch& launch, const void* body, float estimate, int slot,
                       const char* label) {
  // Without a join nothing tells one share from many.
  const std::uint32_t shares = kernel.host_join == nullptr ? 1 : std::max(shares_for(launch.count), 1U);
  bool sample = false;
  Clock::time_point start{};
  guarded(
      [&] {
        make_scratch(shares, launch.share_scratch);
        Job job = make_job(kernel, launch, body, shares, estimate);
        sample = job.sample;
        if (sample) start = Clock::now();
        const AccessScope access(m_engine.protection.get());
        const WorkFrame frame(&kernel, &m_queue, static_cast<std::uint32_t>(slot), m_deferred);
        for (job.phase = 0; job.phase < launch.phases; ++job.phase) {
          std::atomic<std::int64_t> cursor{0};
          if (launch.count > 0)
            for (std::uint32_t share = 0; share < shares; ++share) call_host(job, share, shares, slot, cursor);
          if (kernel.host_join != nullptr) call_join(job, shares, launch.result);
        }
      },
      [&](const char* what) { fail(&kernel, label, what); });
  if (sample) Cost::learn(kernel, launch.count, Clock::now() - start);
}

void Stream::run_share(Lane& lane, std::uint32_t share, std::uint32_t shares, int slot) noexcept {
  if (m_engine.fault.is_set()) [[unlikely]]
    return;
  const Job& job = lane.job();
  const auto start = job.sample ? Clock::now() : Clock::time_point{};
  guarded(
      [&] {
        const AccessScope access(m_engine.protection.get());
        const WorkFrame frame(job.kernel, &m_queue, static_cast<std::uint32_t>(slot), m_deferred);
        call_host(job, share, shares, slot, lane.cursor());
      },
      [&](const char* what) { fail(m_current.kernel, m_current.label.get(), what); });
  if (job.sample) Cost::learn(*job.kernel, std::max<std::int64_t>(job.count / shares, 1), Clock::now() - start);
}

void Stream::join(const Job& job, std::uint32_t shares, int slot) {
  guarded(
      [&] {
        const AccessScope access(m_engine.protection.get());
        const WorkFrame frame(job.kernel, &m_queue, static_cast<std::uint32_t>(slot), m_deferred);
        call_join(job, shares, m_current.launch.result);
      },
      [&](const char* what) { fail(m_current.kernel, m_current.label.get(), what); });
}

void Stream::fail(const KernelInfo* kernel, const char* label, const char* what) noexcept {
  const std::string where =
      fmt::format("on queue {}{} of {}", m_options.id, m_options.label.empty() ? "" : ' ' + in_quotes(m_options.label),
                  m_options.device_name);
  if (what == nullptr) what = "it threw something that is no std::exception";
  if (kernel == nullptr) {
    m_engine.fault.set(Status::error(Code::kernel_error, fmt::format("a host function {} failed: {}", where, what)));
  } else {
    const std::string name = label != nullptr && *label != '\0' ? label : kernel->type;
    m_engine.fault.set(
        Status::error(Code::kernel_error, fmt::format("kernel {} {} failed: {}", in_quotes(name), where, what)));
  }
}

// -- jobs on the lane

/// Puts a kernel whose scratch was made on the stream's lane, under the lock: ownership of the stream passes to the
/// job, which destroys `body`.
void Stream::put_on_lane(const KernelInfo& kernel, const Launch& launch, void* body, std::uint32_t shares,
                         float estimate, const char* label) noexcept {
  m_current.kernel = &kernel;
  m_current.launch = launch;
  m_current.body = body;
  m_current.shares = shares;
  m_current.label = label;
  publish(make_job(kernel, launch, body, shares, estimate));
}

/// Under the lock, so that no helper attaches to the job before in between.
void Stream::publish(const Job& job) noexcept {
  m_attachable.store(helpers_run(m_current.launch), std::memory_order_relaxed);
  m_lane->publish(*this, job, m_current.shares);
}

/// Makes the caller the collector of the job on the lane; false when there is none that wants one.
bool Stream::attach() noexcept {
  if (!m_attachable.load(std::memory_order_relaxed)) return false;
  const Lock lock(*this);
  if (!m_attachable.load(std::memory_order_relaxed)) return false;
  m_attachable.store(false, std::memory_order_relaxed);
  // Whoever finished the last share before this addition saw no collector, and completes the job.
  return m_lane->add(Lane::attached, m_lane->begin()).shares != m_current.shares;
}

/// Runs what is left of the blocks [0, end) and adds the number of shares to `held`; false: no thread slot is free.
bool Stream::take_shares(Lane& lane, std::uint64_t doorbell, std::uint32_t end, std::uint32_t& held) {
  const SlotLease slot(m_engine);
  if (!slot) return false;
  for (std::uint32_t block = 0; block < end; ++block) {
    for (std::uint32_t share = 0; lane.claim(doorbell, block, share); ++held)
      run_share(lane, share, m_current.shares, slot.number());
  }
  return true;
}

/// The collector's part. The job cannot complete without it, so all of it is stable meanwhile. Shares that the
/// collector runs itself are not added to the lane's sum: it completes when the others have finished the rest.
void Stream::collect(std::uint64_t target) {
  Lane& lane = *m_lane;
  const std::uint64_t doorbell = lane.doorbell();
  const auto blocks = static_cast<std::uint32_t>(m_engine.options.slots);
  std::uint32_t held = 0;
  take_shares(lane, doorbell, 1, held);
  bool all_taken = false;
  bool asleep = false;
  Clock::time_point spin_end{};
  for (int polls = 1; lane.progress().shares + held != m_current.shares; ++polls) {
    cpu_pause();
    if (polls % patience != 0) continue;
    if (!all_taken) all_taken = take_shares(lane, doorbell, blocks, held);
    const auto now = Clock::now();
    if (polls == patience) spin_end = now + m_engine.options.spin;
    if (now < spin_end) continue;
    const std::uint64_t begin = lane.begin();
    const Lane::Progress progress = asleep ? lane.progress() : lane.add(Lane::attached, begin);
    asleep = true;
    if (progress.shares + held != m_current.shares)
      futex_wait(lane.word(), static_cast<std::uint32_t>(begin) + progress.shares,
                 all_taken ? std::chrono::nanoseconds(-1) : std::chrono::milliseconds(1));
  }
  if (end_phase(-1)) go_on(Owner{Owner::Role::helper, -1, target}, true);
}

void Stream::job_finished(int slot) {
  if (end_phase(slot)) go_on(Owner{Owner::Role::worker, slot, 0}, true);
}

/// The caller owns the stream again: all shares of the phase have finished. False when the next phase is on the lane.
bool Stream::end_phase(int slot) {
  Job job = m_lane->job();
  const std::uint32_t shares = m_current.shares;
  if (job.kernel->host_join != nullptr && !m_engine.fault.is_set()) {
    if (slot >= 0) {
      join(job, shares, slot);
    } else {
      for (;;) {
        if (const SlotLease lease(m_engine); lease) {
          join(job, shares, lease.number());
          break;
        }
        std::this_thread::yield();
      }
    }
  }
  if (job.phase + 1 < m_current.launch.phases && !m_engine.fault.is_set()) {
    Engine& engine = m_engine;
    const bool all_slots = !helpers_run(m_current.launch);
    ++job.phase;
    {
      const Lock lock(*this);
      publish(job);
    }
    engine.ring(shares, all_slots);  // the stream may be gone
    return false;
  }
  end_body(*m_current.kernel, m_current.body, slot);
  return true;
}

/// Destroys the body of a kernel that has completed, or never runs; still as work of the stream, since a destructor
/// that waited for the stream would wait for itself. Then runs what was deferred to the end of that work.
void Stream::end_body(const KernelInfo& kernel, void* body, int slot) {
  if (kernel.destroy != nullptr) {
    const WorkFrame frame(&kernel, &m_queue, static_cast<std::uint32_t>(slot), m_deferred);
    kernel.destroy(body);
  }
  m_deferred.run();
}

// -- commands

void Stream::make_ready() {
  Engine& engine = m_engine;
  engine.ready.push(*this);  // from here on the stream may be anyone's, and gone
  engine.ring_ready();
}

void Stream::proceed(int slot) {
  go_on(Owner{Owner::Role::worker, slot, 0}, false);
}

void Stream::function_returned() {
  m_deferred.run();
  go_on(Owner{}, true);
}

/// The caller owns the stream; `finished`: and has just ended a command of it.
void Stream::go_on(const Owner& owner, bool finished) {
  while (Command* command = next_command(owner, finished)) {
    if (run(*command, owner) == Outcome::elsewhere) return;
    finished = true;
  }
}

/// The next command that this owner may run. Null: the stream is idle, or in other hands; the caller owns it no more,
/// and it may be gone.
Command* Stream::next_command(const Owner& owner, bool finished) {
  const void* const waited_on = low_half(m_completed);
  Command* next = nullptr;
  bool wake = false;
  bool hand_over = false;
  {
    const Lock lock(*this);
    if (finished) {
      m_attachable.store(false, std::memory_order_relaxed);
      if (m_running != nullptr) {
        m_running->next = std::exchange(m_spare, m_running);
        m_running = nullptr;
      }
      m_completed.store(m_completed.load(std::memory_order_relaxed) + 1, std::memory_order_release);
      wake = std::exchange(m_waiters, false);
    }
    next = m_first;
    if (next == nullptr) {
      m_busy.store(false, std::memory_order_relaxed);
    } else if (next->kind == Command::Kind::wait && !m_engine.fault.is_set() && next->event->park(*this)) {
      next = nullptr;  // who reaches the event owns the stream
    } else if (next->kind == Command::Kind::kernel && owner.role != Owner::Role::worker &&
               m_completed.load(std::memory_order_relaxed) >= owner.target) {
      hand_over = true;
      next = nullptr;
    } else {
      m_first = next->next;
      --m_depth;
      m_running = next;
    }
  }
  if (wake) futex_wake(waited_on);
  if (hand_over) make_ready();
  return next;
}

Stream::Outcome Stream::run(Command& command, const Owner& owner) {
  switch (command.kind) {
    case Command::Kind::kernel: return run_kernel(command, owner);
    case Command::Kind::record: std::exchange(command.event, nullptr)->reach(); return Outcome::done;
    case Command::Kind::wait: command.event.reset(); return Outcome::done;
    case Command::Kind::host_function:
      if (m_engine.fault.is_set()) return Outcome::done;
      m_engine.functions.post(*this, command.function, command.argument);
      return Outcome::elsewhere;
  }
  return Outcome::done;
}

Stream::Outcome Stream::run_kernel(Command& command, const Owner& owner) {
  const KernelInfo& kernel = *command.kernel;
  const Launch& launch = command.launch;
  const auto run_here = [&](int slot) {
    run_whole(kernel, launch, command.body, command.estimate, slot, command.label.get());
    end_body(kernel, command.body, slot);
    return Outcome::done;
  };
  if (m_engine.fault.is_set()) {
    end_body(kernel, command.body, owner.slot);
    return Outcome::done;
  }
  const bool may_run = owner.role == Owner::Role::worker || helpers_run(launch);
  if (tiny(launch.count, command.estimate) && may_run) {
    if (owner.slot >= 0) return run_here(owner.slot);
    if (const SlotLease slot(m_engine); slot) return run_here(slot.number());
  }
  const std::uint32_t shares = shares_for(launch.count);
  Engine& engine = m_engine;
  const bool all_slots = !helpers_run(launch);
  bool published = false;
  guarded(
      [&] {
        make_scratch(shares, launch.share_scratch);
        const Lock lock(*this);
        published = shares > 0 && bind_lane();
        if (published) put_on_lane(kernel, launch, command.body, shares, command.estimate, command.label.get());
      },
      [&](const char* what) { fail(&kernel, command.label.get(), what); });
  if (published) {
    engine.ring(shares, all_slots);  // the command and the stream may be gone
    return Outcome::elsewhere;
  }
  if (m_engine.fault.is_set()) {
    end_body(kernel, command.body, owner.slot);
    return Outcome::done;
  }
  if (owner.slot >= 0) return run_here(owner.slot);
  // No lane is free, and this thread may not run it: a worker shall.
  {
    const Lock lock(*this);
    m_running = nullptr;
    command.next = m_first;
    if (m_first == nullptr) m_last = &command;
    m_first = &command;
    ++m_depth;
  }
  make_ready();
  return Outcome::elsewhere;
}

}  // namespace gantry::host
