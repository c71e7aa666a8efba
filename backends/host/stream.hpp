// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <backends/host/command.hpp>
#include <backends/host/lane.hpp>
#include <backends/host/work_frame.hpp>
#include <gantry/base/status.hpp>
#include <gantry/core/queue.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace gantry::host {

struct Engine;
class HostEvent;

/// The in-order work of one queue.
///
/// A stream is idle, or exactly one of these goes on with it: the thread that owns it (proceed), the job that it has on
/// its lane (whoever finishes the last share owns the stream then, or the collector, a fencing thread that said it
/// would), the event that it is parked at, the thread of host functions, or the ready list. No thread drives a stream:
/// ownership passes from hand to hand, and who has it takes the next command.
///
/// A launch on an idle stream does not pass through a command: a tiny kernel runs at once, on the caller's body; any
/// other is written straight into the lane.
class Stream {
 public:
  Stream(Engine& engine, const Queue& queue, QueueOptions options);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // -- what Queue promises

  // `estimate`: nanoseconds on one thread, or Cost::unknown.

  /// The shortest way of launch, tried first. Launches that are not `measured` do not count as the kernels that are.
  template <bool measured>
  bool run_at_once(const KernelInfo& kernel, const Launch& launch, const void* body, float estimate);
  Status launch(const KernelInfo& kernel, const Launch& launch, const void* body, float estimate);
  Status record(HostEvent& event);
  Status wait(const HostEvent& event);
  Status host_function(void (*function)(void*), void* argument);
  Status sync();
  /// And no call is inside that will look at the stream again: it may be closed.
  [[nodiscard]] bool idle() const noexcept {
    return m_completed.load(std::memory_order_acquire) == m_submitted.load(std::memory_order_acquire) &&
           !m_runs_inline.load(std::memory_order_acquire) && m_inside.load(std::memory_order_acquire) == 0;
  }
  /// False when the deadline came first. The caller never helps: what it waits for may not end.
  bool wait_until_idle(std::chrono::steady_clock::time_point deadline);

  /// A call that needs the stream after work of it may have run, which may have dropped the program's last reference:
  /// the stream is not idle while one lives.
  class Inside {
   public:
    explicit Inside(Stream& stream) noexcept : m_stream(stream) {
      m_stream.m_inside.fetch_add(1, std::memory_order_relaxed);
    }
    ~Inside() { m_stream.m_inside.fetch_sub(1, std::memory_order_release); }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

   private:
    Stream& m_stream;
  };

  // -- for the threads of the device

  /// Someone must go on with the stream, not the caller.
  void make_ready();
  /// The caller owns the stream and holds a thread slot: it goes on until others do.
  void proceed(int slot);
  /// The caller, which holds a thread slot, finished the last share of the job on the lane, and there is no collector.
  void job_finished(int slot);
  /// The host function of the stream has returned.
  void function_returned();

  /// Runs one share of the stream's job. An exception poisons the device.
  void run_share(Lane& lane, std::uint32_t share, std::uint32_t shares, int slot) noexcept;
  [[nodiscard]] const Queue& queue() const noexcept { return m_queue; }
  [[nodiscard]] DeferredList& deferred() noexcept { return m_deferred; }
  /// A host function threw.
  void function_failed(const char* what) noexcept { fail(nullptr, nullptr, what); }

  // -- for Lanes

  /// Gives the lane back unless the stream is busy or locked.
  bool give_up_lane() noexcept;
  /// The stream is closed and idle: it leaves its lane.
  void close() noexcept;

 private:
  /// The stream's lock: an exchange to take it, a plain store to give it back.
  ///
  /// A tiny kernel runs inline without it: its thread takes thread slot 0 in the stream's name and then looks at the
  /// lock, a locker takes the lock and then looks at slot 0, so that one of them sees the other and makes way. (No
  /// kernel waits for a lock: core lets none of them call a queue.)
  class Lock {
   public:
    [[gnu::always_inline]] explicit Lock(Stream& stream) noexcept : m_stream(stream) {
      m_held = !stream.m_held.exchange(true, std::memory_order_seq_cst);
      if (!m_held || stream.runs_inline()) [[unlikely]]
        stream.lock_slowly(m_held);
    }
    [[gnu::always_inline]] ~Lock() { unlock(); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;
    [[gnu::always_inline]] void unlock() noexcept {
      if (m_held) m_stream.m_held.store(false, std::memory_order_release);
      m_held = false;
    }

   private:
    Stream& m_stream;
    bool m_held;
  };
  void lock_slowly(bool& held) noexcept;
  [[nodiscard]] bool runs_inline() const noexcept;

  /// The kernel that runs: what its job does not say. Belongs to the owner.
  struct Current {
    const KernelInfo* kernel = nullptr;
    Launch launch;
    void* body = nullptr;
    std::uint32_t shares = 0;
    ShortLabel label;
  };
  /// Who owns the stream, and what it may run.
  struct Owner {
    enum class Role : std::uint8_t {
      worker,     // everything, in its slot
      helper,     // kernels that are not heavy, until `target` commands have completed
      passer_by,  // no kernel
    };
    Role role = Role::passer_by;
    int slot = -1;
    std::uint64_t target = 0;
  };
  using Time = std::chrono::steady_clock::time_point;

  // stream.cpp
  [[nodiscard]] std::uint32_t shares_for(std::int64_t count) const noexcept;
  [[nodiscard]] bool tiny(std::int64_t count, float estimate) const noexcept;
  [[nodiscard]] bool helpers_run(const Launch& launch) const noexcept;
  [[nodiscard]] Job make_job(const KernelInfo& kernel, const Launch& launch, const void* body, std::uint32_t shares,
                             float estimate) noexcept;
  bool run_inline(const KernelInfo& kernel, const Launch& launch, const void* body, float estimate);
  void run_tiny(const KernelInfo& kernel, const Launch& launch, const void* body, float estimate, int slot);
  void end_inline();
  void copy_body(const KernelInfo& kernel, void* to, const void* body);
  Status launch_to_workers(const KernelInfo& kernel, const Launch& launch, const void* body, float estimate);
  bool bind_lane() noexcept;
  template <class Fill>
  Status enqueue(Command::Kind kind, Fill&& fill);
  bool make_room();
  bool wait_for(std::uint64_t target, Time deadline, bool help);

  // stream_owner.cpp
  void go_on(const Owner& owner, bool finished);
  [[nodiscard]] Command* next_command(const Owner& owner, bool finished);
  enum class Outcome : std::uint8_t { done, elsewhere };
  Outcome run(Command& command, const Owner& owner);
  Outcome run_kernel(Command& command, const Owner& owner);
  void run_whole(const KernelInfo& kernel, const Launch& launch, const void* body, float estimate, int slot,
                 const char* label);
  void join(const Job& job, std::uint32_t shares, int slot);
  void put_on_lane(const KernelInfo& kernel, const Launch& launch, void* body, std::uint32_t shares, float estimate,
                   const char* label) noexcept;
  void publish(const Job& job) noexcept;
  bool end_phase(int slot);
  void end_body(const KernelInfo& kernel, void* body, int slot);
  bool attach() noexcept;
  void collect(std::uint64_t target);
  bool take_shares(Lane& lane, std::uint64_t doorbell, std::uint32_t end, std::uint32_t& held);
  void make_scratch(std::uint32_t shares, std::uint32_t share_bytes);
  /// `what`: null for an exception that is no std::exception; `kernel`: null for a host function.
  void fail(const KernelInfo* kernel, const char* label, const char* what) noexcept;

  Engine& m_engine;
  const Queue& m_queue;
  const QueueOptions m_options;

  // The line that every launch and fence touches. (L): guarded by the lock.
  alignas(64) std::atomic<bool> m_held{false};  // the lock
  std::atomic<bool> m_busy{false};              // (L) for changes: not idle
  float m_plain_limit;                          // most nanoseconds of run_at_once
  bool m_waiters = false;                       // (L) someone sleeps on m_completed
  std::atomic<bool> m_attachable{false};        // (L) a job that wants a collector is on the lane
  std::uint32_t m_launches = 0;                 // the owner's: jobs made
  std::atomic<std::uint64_t> m_submitted{0};    // (L) for changes
  std::atomic<std::uint64_t> m_completed{0};    // (L) for changes
  Lane* m_lane = nullptr;                       // (L)
  std::atomic<bool> m_runs_inline{false};       // a tiny kernel, and its thread still needs the stream

  alignas(64) Command* m_first = nullptr;  // (L)
  Command* m_last = nullptr;               // (L)
  Command* m_spare = nullptr;              // (L)
  std::size_t m_depth = 0;                 // (L)
  std::atomic<std::uint32_t> m_inside{0};  // how many Inside there are
  Command* m_running = nullptr;            // the owner's: the command that it took
  Current m_current;                       // the owner's
  BodyStorage m_large_body;                // the owner's: of a kernel that went straight to the lane
  std::unique_ptr<char[]> m_scratch;       // the owner's
  std::uint64_t m_scratch_bytes = 0;
  DeferredList m_deferred;
  std::atomic<std::uint64_t> m_stalled_at{~std::uint64_t{0}};  // m_completed when a launch gave up waiting for room
};

}  // namespace gantry::host
