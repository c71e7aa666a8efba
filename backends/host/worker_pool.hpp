// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/asymmetric_fence.hpp>
#include <gantry/base/status.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace gantry::host {

struct Engine;
class Lane;

/// The threads of a device: one worker for each slot but slot 0, and a reserve worker.
///
/// Slot 0 is the part of the thread that launched, which usually fences soon. The reserve worker sleeps; it is woken to
/// take that part when the work is long (or of unknown length) and nobody has come to fence. Workers without work poll
/// for `spin`, then sleep on a futex. A worker holds its thread slot while it is awake, so that taking a job costs it
/// no atomic operation outside of its own cache lines.
class WorkerPool {
 public:
  explicit WorkerPool(Engine& engine) noexcept : m_engine(engine) {}

  /// Starts the threads; all of them, unless it says otherwise.
  Status start();
  /// Asks the threads to end and joins them. None runs a kernel. Repeatable.
  void stop();

  /// Workers that sleep, without the reserve; a hint, exact only as asymmetric_fence.hpp says.
  [[nodiscard]] std::uint32_t sleeping() const noexcept { return m_sleeping.load(std::memory_order_acquire); }
  /// Wakes up to `wanted` workers that sleep.
  void wake(std::uint32_t wanted) noexcept;
  void wake_reserve() noexcept;
  /// True when every worker is inside a job.
  [[nodiscard]] bool all_busy() const noexcept;

 private:
  enum State : std::uint32_t { awake, asleep };
  struct alignas(128) Worker {
    std::uint32_t index = 0;  // 0: the reserve; else the slot that it prefers and the block that is its own
    int slot = -1;
    std::vector<std::uint64_t> seen;           // the last doorbell of each lane
    std::atomic<std::uint32_t> state{asleep};  // born asleep: an open that nothing follows costs no polling
    std::atomic<bool> busy{false};
    std::thread thread;
  };
  enum class Found : std::uint8_t { nothing, work, no_slot };

  void name_and_bind(const Worker& worker) noexcept;
  void main(Worker& worker);
  Found look_for_work(Worker& worker);
  [[nodiscard]] bool take_slot(Worker& worker) noexcept;
  void give_slot_back(Worker& worker) noexcept;
  void serve(Worker& worker, Lane& lane, std::uint64_t doorbell);
  bool serve_block(Worker& worker, Lane& lane, std::uint64_t doorbell, std::uint32_t block);
  void call_reserve(Worker& worker, Lane& lane) noexcept;
  [[nodiscard]] bool news(const Worker& worker) noexcept;
  void sleep(Worker& worker) noexcept;
  static void sleep_until_woken(Worker& worker) noexcept;
  bool wake(Worker& worker) noexcept;

  Engine& m_engine;
  std::atomic<std::uint32_t> m_sleeping{0};
  std::atomic<bool> m_stop{false};
  std::vector<std::unique_ptr<Worker>> m_workers;  // [0] is the reserve
};

}  // namespace gantry::host
