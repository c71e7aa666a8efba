// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <backends/host/fault.hpp>
#include <backends/host/host_functions.hpp>
#include <backends/host/lanes.hpp>
#include <backends/host/protection.hpp>
#include <backends/host/ready_list.hpp>
#include <backends/host/stream.hpp>
#include <backends/host/thread_slots.hpp>
#include <backends/host/worker_pool.hpp>
#include <gantry/base/settings.hpp>
#include <gantry/core/cpu_set.hpp>
#include <gantry/rpc/endpoint.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace gantry::host {

/// How a device runs; fixed while it is open.
struct EngineOptions {
  std::string device_name;
  int ordinal = 0;
  int slots = 1;
  CpuSet cpus;
  Bind bind = Bind::device;
  std::chrono::nanoseconds spin{50'000};  ///< 0 where spinning threads would share a CPU
  float inline_limit = 500;               ///< nanoseconds, see Stream::tiny
  bool strict = false;
  bool blocking = false;
};

/// All that the threads of one open device share.
struct Engine {
  Engine(EngineOptions how, std::unique_ptr<Protection> guard)
      : options(std::move(how)),
        protection(std::move(guard)),
        slots(options.slots),
        lanes(options.slots),
        workers(*this),
        functions(*this) {}
  ~Engine() { stop(); }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Ends all threads; no work runs. Repeatable.
  void stop() {
    functions.stop();
    workers.stop();
  }

  void add(Stream& stream);
  /// Takes out a stream that is idle.
  void remove(Stream& stream);
  /// Waits until every stream is idle; false when the deadline came first. No stream may be removed meanwhile.
  bool drain(std::chrono::steady_clock::time_point deadline);

  /// Makes sure that the shares of a job just published get threads: wakes workers that sleep, and the reserve worker
  /// for the launching thread's part where nobody else could or should take it.
  void ring(std::uint32_t shares, bool all_slots) noexcept {
    AsymmetricFence::light();  // doorbell, then `sleeping`; a worker goes the other way round
    if (workers.sleeping() != 0) [[unlikely]]
      workers.wake(shares);
    if (all_slots || options.slots == 1 || lanes.bound() > 1) [[unlikely]]
      ring_reserve(all_slots);
  }
  /// As ring, for a stream just put on the ready list.
  void ring_ready() noexcept;

  const EngineOptions options;
  const std::unique_ptr<Protection> protection;  ///< null: off
  std::shared_ptr<rpc::Endpoint> calls;          ///< that kernels make; set while the device opens
  Fault fault;
  ThreadSlots slots;
  Lanes lanes;
  ReadyList ready;
  WorkerPool workers;
  HostFunctions functions;

 private:
  void ring_reserve(bool at_once) noexcept;

  std::mutex m_mutex;  // guards m_streams
  std::vector<Stream*> m_streams;
};

}  // namespace gantry::host
