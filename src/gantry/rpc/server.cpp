// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/base/futex.hpp>
#include <gantry/base/log.hpp>
#include <gantry/base/service_thread.hpp>
#include <gantry/base/spin_lock.hpp>
#include <gantry/base/try.hpp>
#include <gantry/core/execution_context.hpp>
#include <gantry/rpc/endpoint.hpp>
#include <gantry/rpc/server.hpp>

#include <pthread.h>

#include <algorithm>
#include <string>

namespace gantry::rpc {
namespace {

/// Passes between two looks at the clock.
constexpr int passes_per_look = 64;
/// How often a server looks for calls of clients that cannot wake it: a pass takes a few microseconds.
constexpr std::chrono::microseconds lease_nap{200};

Server& server_of(Channel& channel) noexcept {
  return *static_cast<Server*>(channel.server);
}

}  // namespace

Server::Server(Options options) : m_options(std::move(options)) {
  AsymmetricFence::enable();
}

Server::~Server() {
  stop();
}

void Server::place(CpuSet cpus) {
  const std::lock_guard lock(m_mutex);
  m_cpus = std::move(cpus);
}

// -- holders

void Server::attach(std::shared_ptr<Endpoint> endpoint) {
  const std::lock_guard lock(m_mutex);
  m_endpoints.push_back(std::move(endpoint));
  m_version.fetch_add(1, std::memory_order_release);
}

void Server::detach(Endpoint& endpoint) {
  const std::lock_guard lifecycle(m_lifecycle);
  bool last = false;
  {
    const std::lock_guard lock(m_mutex);
    const auto left = std::find_if(m_endpoints.begin(), m_endpoints.end(),
                                   [&](const std::shared_ptr<Endpoint>& held) { return held.get() == &endpoint; });
    if (left == m_endpoints.end()) return;
    const CallStatistics its = endpoint.statistics();
    m_past.calls += its.calls;
    m_past.bytes += its.bytes;
    m_past.failed += its.failed;
    m_endpoints.erase(left);
    m_version.fetch_add(1, std::memory_order_release);
    last = m_endpoints.empty();
  }
  if (last) {
    leave_seat();
  } else if (m_seat.load() != nullptr) {
    rouse();  // to let go of it
  }
}

void Server::connect(Channel& channel) noexcept {
  channel.asleep = &m_asleep;
  channel.server = this;
  channel.wake = [](Channel& of) noexcept { server_of(of).wake(); };
  channel.waiting = [](Channel& of) noexcept { server_of(of).client_waits(); };
}

Server::Endpoints Server::endpoints() const {
  const std::lock_guard lock(m_mutex);
  return m_endpoints;
}

void Server::refresh(Endpoints& endpoints, std::uint64_t& version) const {
  if (version == m_version.load(std::memory_order_acquire)) return;
  Endpoints before;  // ends without the lock
  const std::lock_guard lock(m_mutex);
  version = m_version.load(std::memory_order_relaxed);
  before.swap(endpoints);
  endpoints = m_endpoints;
}

// -- the thread's life

Status Server::start() {
  const std::lock_guard lock(m_lifecycle);
  if (m_seat.load() != nullptr) return {};
  if (endpoints().empty())
    return Status::error(Code::refused, "the server of " + m_options.name + " starts with its first open device");
  return take_seat();
}

/// Starts a thread that serves instead of the one that does.
Status Server::take_seat() {
  const auto gone = [](const std::unique_ptr<Seat>& seat) {
    if (!seat->left.load(std::memory_order_acquire)) return false;
    seat->thread.join();
    return true;
  };
  std::erase_if(m_seats, gone);
  auto seat = std::make_unique<Seat>();
  const Seat* const before = m_seat.exchange(seat.get(), std::memory_order_seq_cst);
  HostPlatform::store(m_asleep, 0);
  Status status =
      start_service_thread(seat->thread, "the thread that serves the calls of " + m_options.name + " devices",
                           [this, &own = *seat] { main(own); });
  if (status.ok()) {
    m_seats.push_back(std::move(seat));
  } else {
    m_seat.store(before, std::memory_order_seq_cst);
  }
  return status;
}

void Server::stop() {
  const std::lock_guard lock(m_lifecycle);
  leave_seat();
}

/// Ends all threads. Whatever is posted from now on starts another one.
void Server::leave_seat() {
  m_seat.store(nullptr, std::memory_order_seq_cst);
  rouse();
  for (const auto& seat : m_seats) seat->thread.join();
  m_seats.clear();
  const Endpoints left = endpoints();
  while (!prepare_to_sleep(left))
    for (const auto& endpoint : left) serve(*endpoint);
}

int Server::threads() const {
  const std::lock_guard lock(m_lifecycle);
  return static_cast<int>(std::count_if(m_seats.begin(), m_seats.end(), [](const std::unique_ptr<Seat>& seat) {
    return !seat->left.load(std::memory_order_acquire);
  }));
}

/// Lets the thread that serves, if there is one, look again before it sleeps.
void Server::rouse() noexcept {
  HostPlatform::exchange(m_asleep, 0);
  futex_wake(&m_asleep);
}

/// A client found the server asleep, or there is none yet.
void Server::wake() noexcept {
  if (HostPlatform::exchange(m_asleep, 0) == 0) return;
  m_wake_ups.fetch_add(1, std::memory_order_relaxed);
  if (m_seat.load(std::memory_order_seq_cst) != nullptr) {
    futex_wake(&m_asleep);
    return;
  }
  if (Status status = start(); !status.ok()) {
    log(LogLevel::error, status.message());
    for (const auto& endpoint : endpoints()) endpoint->abort();
  }
}

/// Called every few milliseconds by each client that waits. Nothing served between two of these calls means that the
/// thread is stuck in a handler: another one serves the other devices meanwhile.
void Server::client_waits() noexcept {
  const std::uint64_t progress = m_progress.load(std::memory_order_relaxed);
  if (m_seen_progress.exchange(progress, std::memory_order_relaxed) != progress) return;
  const std::unique_lock lock(m_lifecycle, std::try_to_lock);
  if (!lock || m_seat.load() == nullptr || HostPlatform::load(m_asleep) != 0) return;
  const Endpoints all = endpoints();
  const auto busy = [](const std::shared_ptr<Endpoint>& endpoint) { return endpoint->is_served(); };
  if (std::none_of(all.begin(), all.end(), busy) || std::all_of(all.begin(), all.end(), busy)) return;
  if (Status status = take_seat(); !status.ok()) {
    log(LogLevel::error, status.message());
    return;
  }
  m_hand_overs.fetch_add(1, std::memory_order_relaxed);
}

void Server::main(Seat& seat) {
  pthread_setname_np(pthread_self(), ("gantry-rpc-" + m_options.name).substr(0, 15).c_str());
  {
    const std::lock_guard lock(m_mutex);
    if (!m_cpus.empty()) m_cpus.bind_calling_thread().ignore();
  }
  if (m_options.on_thread_start) m_options.on_thread_start();
  Endpoints all;
  std::uint64_t version = 0;
  Clock::time_point last_look = Clock::now();
  Clock::time_point last_call = last_look;
  bool found = false;  // since the last look at the clock
  for (int passes = 1; seated(seat); ++passes) {
    refresh(all, version);
    for (const auto& endpoint : all) {
      if (!seated(seat)) break;
      found |= serve(*endpoint);
      if (!seated(seat)) rouse();  // who sits there now may sleep, and could not look at what was served here
    }
    if (passes % passes_per_look != 0) {
      cpu_pause();
      continue;
    }
    const auto now = Clock::now();
    if (found) {
      last_call = now;
      note_look(now - last_look);
    } else if (now - last_call < m_options.spin) {
      std::this_thread::yield();
    } else {
      sleep(all, seat);
      last_call = Clock::now();
    }
    last_look = Clock::now();
    found = false;
  }
  seat.left.store(true, std::memory_order_release);
}

void Server::note_look(Clock::duration took) noexcept {
  const auto us = static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(took).count());
  if (us > m_longest_look_us.load(std::memory_order_relaxed)) m_longest_look_us.store(us, std::memory_order_relaxed);
}

/// One endpoint's turn, unless another thread serves it.
bool Server::serve(Endpoint& endpoint) {
  if (!endpoint.try_enter()) return false;
  const bool found = endpoint.serve();
  endpoint.leave();
  return found;
}

/// True: nothing is there, and what comes will wake the server.
bool Server::prepare_to_sleep(const Endpoints& endpoints) {
  HostPlatform::store(m_asleep, 1);
  std::vector<Endpoint*> entered;
  for (const auto& endpoint : endpoints) {
    if (!endpoint->try_enter()) continue;
    entered.push_back(endpoint.get());
    endpoint->unwatch();
  }
  HostPlatform::heavy_fence();  // `watched` and `asleep`, then the rings; clients go the other way round
  bool anything = false;
  for (Endpoint* endpoint : entered) {
    anything |= endpoint->anything();
    endpoint->leave();
  }
  // Who serves the others wakes the server afterwards, if it sees that it sleeps.
  for (const auto& endpoint : endpoints)
    anything |= std::find(entered.begin(), entered.end(), endpoint.get()) == entered.end() && !endpoint->is_served();
  if (anything) HostPlatform::store(m_asleep, 0);
  return !anything;
}

void Server::sleep(const Endpoints& endpoints, const Seat& seat) {
  if (!prepare_to_sleep(endpoints)) return;
  m_sleeps.fetch_add(1, std::memory_order_relaxed);
  const bool polls = m_leases.load(std::memory_order_seq_cst) > 0;
  while (HostPlatform::load(m_asleep) == 1 && seated(seat)) {
    futex_wait(&m_asleep, 1, polls ? lease_nap : std::chrono::nanoseconds(-1));
    if (polls) HostPlatform::exchange(m_asleep, 0);
  }
}

// -- leases, statistics

Server::Lease::Lease(Server& server) : m_server(&server) {
  server.m_leases.fetch_add(1, std::memory_order_seq_cst);
  server.wake();
}

Server::Lease::~Lease() {
  if (m_server != nullptr) m_server->m_leases.fetch_sub(1, std::memory_order_seq_cst);
}

CallStatistics Server::statistics() const {
  CallStatistics all;
  {
    const std::lock_guard lock(m_mutex);
    all = m_past;
    for (const auto& endpoint : m_endpoints) {
      const CallStatistics its = endpoint->statistics();
      all.calls += its.calls;
      all.bytes += its.bytes;
      all.failed += its.failed;
    }
  }
  all.sleeps = m_sleeps.load(std::memory_order_relaxed);
  all.wake_ups = m_wake_ups.load(std::memory_order_relaxed);
  all.hand_overs = m_hand_overs.load(std::memory_order_relaxed);
  all.longest_look_us = m_longest_look_us.load(std::memory_order_relaxed);
  return all;
}

}  // namespace gantry::rpc
