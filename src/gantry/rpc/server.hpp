// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/status.hpp>
#include <gantry/core/call_statistics.hpp>
#include <gantry/core/cpu_set.hpp>
#include <gantry/rpc/protocol.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace gantry::rpc {

class Endpoint;

/// The thread of a backend that serves the calls of its open devices.
///
/// Every attached endpoint holds it. The thread starts with the first call, takes no CPU while there are none, and ends
/// with the last holder. A call whose handler takes long does not stop other devices' calls: when one of their clients
/// has waited for milliseconds and the thread has got nowhere meanwhile, another thread takes its place, and the one
/// that is stuck ends when its handler has returned. Thread safety: all functions, any thread.
class Server {
 public:
  struct Options {
    std::string name;                         ///< the backend's
    std::chrono::microseconds spin{50};       ///< how long the thread looks for calls before it sleeps
    std::function<void()> on_thread_start{};  ///< called on each thread that serves
  };
  explicit Server(Options options);
  /// Every endpoint has left.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Where the threads that start from now on run; empty: anywhere.
  void place(CpuSet cpus);
  void attach(std::shared_ptr<Endpoint> endpoint);
  /// The last one ends the thread and joins it. Does nothing for an endpoint that is not there.
  void detach(Endpoint& endpoint);
  /// Fills in how the clients of a channel wake this server.
  void connect(Channel& channel) noexcept;

  /// Makes sure that there is a thread, while there is a holder: however many ask, there is one.
  Status start();
  /// Ends the thread, if there is one; the next call starts another.
  void stop();
  /// Whether there is a thread to serve what is posted.
  [[nodiscard]] bool serves() const noexcept { return m_seat.load(std::memory_order_acquire) != nullptr; }
  /// Threads that serve or are stuck in a handler.
  [[nodiscard]] int threads() const;
  [[nodiscard]] CallStatistics statistics() const;

  /// While one is held the server polls instead of sleeping until it is woken: for clients that cannot wake it.
  class Lease {
   public:
    explicit Lease(Server& server);
    ~Lease();
    Lease(Lease&& other) noexcept : m_server(std::exchange(other.m_server, nullptr)) {}
    Lease& operator=(Lease&&) = delete;

   private:
    Server* m_server;
  };
  [[nodiscard]] int leases() const noexcept { return m_leases.load(); }

  /// For endpoints: calls have been served. Who waits long sees by this that the thread gets on.
  void progressed() noexcept {
    m_progress.store(m_progress.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

 private:
  struct Seat {
    std::thread thread;
    std::atomic<bool> taken{false};
    std::atomic<bool> left{false};
  };

  using Clock = std::chrono::steady_clock;
  using Endpoints = std::vector<std::shared_ptr<Endpoint>>;

  void wake() noexcept;
  void rouse() noexcept;
  void client_waits() noexcept;
  void main(Seat& seat);
  [[nodiscard]] bool seated(const Seat& seat) const noexcept { return m_seat.load(std::memory_order_seq_cst) == &seat; }
  void refresh(Endpoints& endpoints, std::uint64_t& version) const;
  [[nodiscard]] bool is_held() const;
  [[nodiscard]] bool some_but_not_all_are_served() const;
  bool prepare_to_sleep(const Endpoints& endpoints, std::uint64_t version);
  bool sleep(const Endpoints& endpoints, std::uint64_t version, const Seat& seat);
  void note_look(Clock::duration took) noexcept;
  Status take_seat();
  void end_threads(std::unique_lock<std::mutex> lifecycle);
  void give_up(const Status& status);
  bool serve(Endpoint& endpoint);

  const Options m_options;

  mutable std::mutex m_lifecycle;  // serialises start, stop and handing over; guards m_seats
  std::vector<std::unique_ptr<Seat>> m_seats;
  std::atomic<const Seat*> m_seat{nullptr};  // that serves; null: none

  mutable std::mutex m_mutex;  // guards the four below; taken after m_lifecycle
  Endpoints m_endpoints;
  std::atomic<std::uint64_t> m_version{1};  // of m_endpoints
  CpuSet m_cpus;
  CallStatistics m_past;  // of endpoints that left

  std::atomic<int> m_leases{0};
  alignas(64) std::uint32_t m_asleep = 1;  // shared with clients: see Channel::asleep
  alignas(64) std::atomic<std::uint64_t> m_progress{0};
  std::atomic<std::uint64_t> m_seen_progress{0};
  std::atomic<std::int64_t> m_seen_at{0};
  std::atomic<std::uint64_t> m_sleeps{0};
  std::atomic<std::uint64_t> m_wake_ups{0};
  std::atomic<std::uint64_t> m_hand_overs{0};
  std::atomic<std::uint64_t> m_longest_look_us{0};
};

}  // namespace gantry::rpc
