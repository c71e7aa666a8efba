// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/base/futex.hpp>
#include <gantry/base/log.hpp>
#include <gantry/base/service_thread.hpp>
#include <gantry/base/spin_lock.hpp>
#include <gantry/rpc/endpoint.hpp>
#include <gantry/rpc/server.hpp>

#include <pthread.h>

#include <algorithm>
#include <string>

namespace gantry::rpc {
namespace {

/// Passes between two looks at the clock.
constexpr int passes_per_look = 64;
/// How long nothing is served before a waiting client hands the seat over.
constexpr std::chrono::milliseconds stuck{2};
/// How often a server looks for calls of clients that cannot wake it: that takes it some 15 microseconds.
constexpr std::chrono::microseconds lease_nap{400};

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
  m_version.fetch_add(1, std::memory_order_seq_cst);
}

void Server::detach(Endpoint& endpoint) {
  std::unique_lock lifecycle(m_lifecycle);
  bool last = false;
  {
    const std::lock_guard lock(m_mutex);
    const auto left = std::find_if(m_endpoints.begin(), m_endpoints.end(),
                                   [&](const std::shared_ptr<Endpoint>& held) { return held.get() == &endpoint; });
    if (left == m_endpoints.end()) return;
    m_past += endpoint.statistics();
    m_endpoints.erase(left);
    m_version.fetch_add(1, std::memory_order_seq_cst);
    last = m_endpoints.empty();
  }
  if (last) {
    end_threads(std::move(lifecycle));
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

bool Server::is_held() const {
  const std::lock_guard lock(m_mutex);
  return !m_endpoints.empty();
}

bool Server::some_but_not_all_are_served() const {
  const std::lock_guard lock(m_mutex);
  const auto served = std::count_if(m_endpoints.begin(), m_endpoints.end(),
                                    [](const std::shared_ptr<Endpoint>& endpoint) { return endpoint->is_served(); });
  return served > 0 && served < static_cast<std::ptrdiff_t>(m_endpoints.size());
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
  if (!is_held())
    return Status::error(Code::refused, "the server of " + m_options.name + " starts with its first open device");
  return take_seat();
}

/// Starts a thread that serves instead of the one that does. Under m_lifecycle. Nothing has changed when there is none
/// to have.
Status Server::take_seat() {
  std::erase_if(m_seats, [](const std::unique_ptr<Seat>& seat) {
    if (!seat->left.load(std::memory_order_acquire)) return false;
    seat->thread.join();
    return true;
  });
  m_seats.push_back(std::make_unique<Seat>());
  Seat& seat = *m_seats.back();
  Status status = start_service_thread(
      seat.thread, "the thread that serves the calls of " + m_options.name + " devices", [this, &seat] {
        seat.taken.wait(false, std::memory_order_acquire);
        main(seat);
      });
  if (!status.ok()) {
    m_seats.pop_back();
    return status;
  }
  m_seat.store(&seat, std::memory_order_seq_cst);
  HostPlatform::store(m_asleep, 0);
  seat.taken.store(true, std::memory_order_release);
  seat.taken.notify_all();
  return status;
}

void Server::stop() {
  end_threads(std::unique_lock(m_lifecycle));
}

/// Ends all threads, without the lock while they return from their handlers. Whatever is posted from then on starts
/// another one, and what was posted meanwhile.
void Server::end_threads(std::unique_lock<std::mutex> lifecycle) {
  m_seat.store(nullptr, std::memory_order_seq_cst);
  std::vector<std::unique_ptr<Seat>> ended = std::move(m_seats);
  m_seats.clear();
  lifecycle.unlock();
  rouse();
  for (const auto& seat : ended) seat->thread.join();
  lifecycle.lock();
  std::uint64_t version = 0;
  Endpoints left;
  while (m_seat.load() == nullptr) {
    refresh(left, version);
    if (prepare_to_sleep(left, version)) return;
    if (Status status = take_seat(); !status.ok()) {
      give_up(status);
      return;
    }
  }
}

/// There is no thread to have: nobody waits for an answer any more.
void Server::give_up(const Status& status) {
  log(LogLevel::error, status.message());
  const std::lock_guard lock(m_mutex);
  for (const auto& endpoint : m_endpoints) endpoint->abort();
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
  while (HostPlatform::exchange(m_asleep, 0) != 0) {
    m_wake_ups.fetch_add(1, std::memory_order_relaxed);
    if (m_seat.load(std::memory_order_seq_cst) != nullptr) {
      futex_wake(&m_asleep);
      return;
    }
    const Status status = start();
    if (status.ok()) return;
    HostPlatform::store(m_asleep, 1);
    HostPlatform::heavy_fence();  // `asleep`, then who is there; a client of a new device goes the other way round
    if (status.code() != Code::refused) {
      give_up(status);
      return;
    }
    if (!is_held()) return;
  }
}

/// Called by each client that has waited for long. Nothing served for as long as that means that the thread is stuck in
/// a handler: another one serves the other devices meanwhile.
void Server::client_waits() noexcept {
  const std::int64_t now = Clock::now().time_since_epoch().count();
  const std::uint64_t progress = m_progress.load(std::memory_order_relaxed);
  if (m_seen_progress.exchange(progress, std::memory_order_relaxed) != progress) {
    m_seen_at.store(now, std::memory_order_relaxed);
    return;
  }
  if (Clock::duration(now - m_seen_at.load(std::memory_order_relaxed)) < stuck) return;
  const std::unique_lock lock(m_lifecycle, std::try_to_lock);
  if (!lock || m_seat.load() == nullptr || HostPlatform::load(m_asleep) != 0) return;
  if (!some_but_not_all_are_served()) return;
  if (Status status = take_seat(); !status.ok()) {
    log(LogLevel::error, status.message());
    return;
  }
  progressed();
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
  // The first pass is made whatever happens: who stops the server again and again still lets it serve.
  for (int passes = 1; passes == 1 || seated(seat); ++passes) {
    refresh(all, version);
    for (const auto& endpoint : all) {
      if (passes != 1 && !seated(seat)) break;
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
    } else if (sleep(all, version, seat)) {
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

/// True: nothing is there, and what comes will wake the server. `version`: of the endpoints.
bool Server::prepare_to_sleep(const Endpoints& endpoints, std::uint64_t version) {
  HostPlatform::store(m_asleep, 1);
  std::vector<Endpoint*> entered;
  for (const auto& endpoint : endpoints) {
    if (!endpoint->try_enter()) continue;
    entered.push_back(endpoint.get());
    endpoint->unwatch();
  }
  HostPlatform::heavy_fence();  // `watched` and `asleep`, then the rings; clients go the other way round
  bool anything = m_version.load(std::memory_order_seq_cst) != version;
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

/// Until somebody wakes it, or finds it awake. False: it only napped, since there are leases; one look will do.
bool Server::sleep(const Endpoints& endpoints, std::uint64_t version, const Seat& seat) {
  if (!prepare_to_sleep(endpoints, version)) return true;
  m_sleeps.fetch_add(1, std::memory_order_relaxed);
  while (HostPlatform::load(m_asleep) == 1 && seated(seat)) {
    const bool naps = m_leases.load(std::memory_order_seq_cst) > 0;
    futex_wait(&m_asleep, 1, naps ? lease_nap : std::chrono::nanoseconds(-1));
    if (naps) return HostPlatform::exchange(m_asleep, 0) == 0;
  }
  return true;
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
    for (const auto& endpoint : m_endpoints) all += endpoint->statistics();
  }
  all.sleeps = m_sleeps.load(std::memory_order_relaxed);
  all.wake_ups = m_wake_ups.load(std::memory_order_relaxed);
  all.hand_overs = m_hand_overs.load(std::memory_order_relaxed);
  all.longest_look_us = m_longest_look_us.load(std::memory_order_relaxed);
  return all;
}

}  // namespace gantry::rpc
