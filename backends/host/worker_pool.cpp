// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <backends/host/engine.hpp>
#include <backends/host/worker_pool.hpp>
#include <gantry/base/futex.hpp>
#include <gantry/base/service_thread.hpp>
#include <gantry/base/spin_lock.hpp>
#include <gantry/base/try.hpp>

#include <fmt/format.h>

#include <pthread.h>

#include <chrono>
#include <thread>
#include <utility>

namespace gantry::host {
namespace {

using Clock = std::chrono::steady_clock;

/// Polls between two looks at the clock.
constexpr int polls_per_look = 128;
/// Two looks that lie so far apart mean that somebody else wants the CPU: the worker stops polling.
constexpr std::chrono::microseconds preempted{200};

}  // namespace

// -- life

Status WorkerPool::start() {
  AsymmetricFence::enable();
  for (int i = 0; i < m_engine.options.slots; ++i) {  // all of them before the first thread: threads look at the list
    m_workers.push_back(std::make_unique<Worker>());
    m_workers.back()->index = static_cast<std::uint32_t>(i);
    m_workers.back()->seen.resize(m_engine.lanes.size());
  }
  m_sleeping.store(static_cast<std::uint32_t>(m_workers.size() - 1), std::memory_order_relaxed);
  for (auto& worker : m_workers) {
    GANTRY_TRY(start_service_thread(worker->thread,
                                    fmt::format("worker thread {} of {}", worker->index, m_engine.options.device_name),
                                    [this, &worker = *worker] { main(worker); }));
  }
  return {};
}

void WorkerPool::stop() {
  m_stop.store(true, std::memory_order_seq_cst);
  for (auto& worker : m_workers) wake(*worker);
  for (auto& worker : m_workers) {
    if (worker->thread.joinable()) worker->thread.join();
  }
}

void WorkerPool::name_and_bind(const Worker& worker) noexcept {
  const EngineOptions& options = m_engine.options;
  char name[16] = {};  // what Linux allows
  *fmt::format_to_n(name, sizeof(name) - 1, "gantry-host:{}/{}", options.ordinal, worker.index).out = '\0';
  pthread_setname_np(pthread_self(), name);
  const CpuSet& cpus = options.cpus;
  if (options.bind == Bind::none || cpus.empty()) return;
  // The reserve runs while the launching thread does something else: anywhere on the device.
  if (options.bind == Bind::core && worker.index != 0 && options.slots <= cpus.size()) {
    CpuSet({cpus.cpus()[worker.index]}).bind_calling_thread().ignore();
  } else {
    cpus.bind_calling_thread().ignore();
  }
}

void WorkerPool::main(Worker& worker) {
  name_and_bind(worker);
  if (m_engine.protection != nullptr) m_engine.protection->revoke_from_this_thread();
  sleep_until_woken(worker);
  const bool polls_at_all = worker.index != 0 && m_engine.options.spin.count() > 0;
  Clock::time_point spin_end{};
  Clock::time_point last_look{};
  int polls = 0;
  int tries = 0;
  for (;;) {
    const Found found = look_for_work(worker);
    if (found == Found::work) {
      polls = tries = 0;
      continue;
    }
    if (m_stop.load(std::memory_order_relaxed)) break;
    if (found == Found::no_slot) {  // as many threads as there are slots run kernels
      if (++tries < 10) {
        std::this_thread::yield();
      } else {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
      continue;
    }
    if (polls_at_all) {
      cpu_pause();
      if (++polls % polls_per_look != 0) continue;
      const auto now = Clock::now();
      if (polls == polls_per_look) {
        spin_end = now + m_engine.options.spin;
        last_look = now;
      }
      if (now < spin_end && std::exchange(last_look, now) + preempted > now) continue;
    }
    sleep(worker);
    polls = tries = 0;
  }
  give_slot_back(worker);
}

// -- work

bool WorkerPool::take_slot(Worker& worker) noexcept {
  if (worker.slot == ThreadSlots::none) worker.slot = m_engine.slots.take(static_cast<int>(worker.index));
  return worker.slot != ThreadSlots::none;
}

void WorkerPool::give_slot_back(Worker& worker) noexcept {
  if (worker.slot != ThreadSlots::none) m_engine.slots.give_back(std::exchange(worker.slot, ThreadSlots::none));
}

WorkerPool::Found WorkerPool::look_for_work(Worker& worker) {
  const std::uint32_t lanes = m_engine.lanes.bound();
  for (std::uint32_t i = 0; i < lanes; ++i) {
    Lane& lane = m_engine.lanes[i];
    const std::uint64_t doorbell = lane.doorbell();
    if (doorbell == worker.seen[i]) [[likely]]
      continue;
    lane.prefetch();
    if (!take_slot(worker)) return Found::no_slot;
    worker.seen[i] = doorbell;
    serve(worker, lane, doorbell);
    return Found::work;
  }
  if (m_engine.ready.empty()) [[likely]]
    return Found::nothing;
  if (!take_slot(worker)) return Found::no_slot;
  if (Stream* stream = m_engine.ready.pop()) {
    worker.busy.store(true, std::memory_order_relaxed);
    stream->proceed(worker.slot);
    worker.busy.store(false, std::memory_order_relaxed);
  }
  return Found::work;
}

/// Runs shares of the job that rang: the worker's own block first, then what nobody has started, unless a collector is
/// there to take that. Completes the job when it finishes its last share and nobody else will.
void WorkerPool::serve(Worker& worker, Lane& lane, std::uint64_t doorbell) {
  const auto slots = static_cast<std::uint32_t>(m_engine.options.slots);
  if (!serve_block(worker, lane, doorbell, worker.index)) return;
  for (std::uint32_t i = 1; i < slots; ++i) {
    const std::uint32_t block = worker.index + i < slots ? worker.index + i : worker.index + i - slots;
    if (!serve_block(worker, lane, doorbell, block)) return;
  }
}

/// False when the worker is done with the job.
inline bool WorkerPool::serve_block(Worker& worker, Lane& lane, std::uint64_t doorbell, std::uint32_t block) {
  std::uint32_t share = 0;
  if (!lane.claim(doorbell, block, share)) return true;
  const std::uint32_t shares = Lane::shares_of(doorbell);
  const bool cut = shares > static_cast<std::uint32_t>(m_engine.options.slots);
  Stream& stream = lane.stream();
  const std::uint64_t begin = lane.begin();
  worker.busy.store(true, std::memory_order_relaxed);
  if (lane.job().wants_all) [[unlikely]]
    call_reserve(worker, lane);
  std::uint32_t done = 0;
  do {
    stream.run_share(lane, share, shares, worker.slot);
    ++done;
  } while (cut && lane.claim(doorbell, block, share));
  const Lane::Progress progress = lane.add(done, begin);
  // From here on the job is over as soon as the others and the collector are through: nothing of it may be read.
  bool goes_on = cut;
  if (progress.collectors == 0) {
    goes_on = progress.shares != shares;
    if (!goes_on) stream.job_finished(worker.slot);
  } else if (progress.collectors > 1) [[unlikely]] {
    futex_wake(lane.word());
  }
  worker.busy.store(false, std::memory_order_relaxed);
  return goes_on;
}

/// The worker is about to be busy for long: the reserve worker takes the launching thread's part when nobody fences,
/// and what other lanes have, when nobody else can.
void WorkerPool::call_reserve(Worker& worker, Lane& lane) noexcept {
  if (worker.index == 0) return;
  AsymmetricFence::full();  // `busy`, then the doorbells; Engine::ring_reserve goes the other way round
  if (lane.progress().collectors == 0 || news(worker)) wake_reserve();
}

// -- sleep

/// Whether there is anything that the worker has not looked at.
bool WorkerPool::news(const Worker& worker) noexcept {
  const std::uint32_t lanes = m_engine.lanes.bound();
  for (std::uint32_t i = 0; i < lanes; ++i) {
    if (m_engine.lanes[i].doorbell() != worker.seen[i]) return true;
  }
  return !m_engine.ready.empty();
}

void WorkerPool::sleep(Worker& worker) noexcept {
  give_slot_back(worker);
  const bool counted = worker.index != 0;
  worker.state.store(asleep, std::memory_order_relaxed);
  if (counted) m_sleeping.fetch_add(1, std::memory_order_release);
  AsymmetricFence::heavy();  // `asleep`, then the doorbells: Engine::ring goes the other way round
  if (news(worker) || m_stop.load(std::memory_order_seq_cst)) {
    wake(worker);
    return;
  }
  sleep_until_woken(worker);
}

void WorkerPool::sleep_until_woken(Worker& worker) noexcept {
  while (worker.state.load(std::memory_order_acquire) == asleep) futex_wait(&worker.state, asleep);
}

bool WorkerPool::wake(Worker& worker) noexcept {
  std::uint32_t expected = asleep;
  if (!worker.state.compare_exchange_strong(expected, awake, std::memory_order_acq_rel)) return false;
  if (worker.index != 0) m_sleeping.fetch_sub(1, std::memory_order_relaxed);
  futex_wake(&worker.state, 1);
  return true;
}

void WorkerPool::wake(std::uint32_t wanted) noexcept {
  for (std::size_t i = 1; i < m_workers.size() && wanted > 0; ++i) {
    if (m_workers[i]->state.load(std::memory_order_relaxed) == asleep && wake(*m_workers[i])) --wanted;
  }
}

void WorkerPool::wake_reserve() noexcept {
  Worker& reserve = *m_workers[0];
  if (reserve.state.load(std::memory_order_relaxed) == asleep) wake(reserve);
}

bool WorkerPool::all_busy() const noexcept {
  for (std::size_t i = 1; i < m_workers.size(); ++i) {
    if (!m_workers[i]->busy.load(std::memory_order_relaxed)) return false;
  }
  return true;
}

}  // namespace gantry::host
