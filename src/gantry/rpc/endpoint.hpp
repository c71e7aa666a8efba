// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/status.hpp>
#include <gantry/core/call_statistics.hpp>
#include <gantry/core/device_services.hpp>
#include <gantry/core/execution_context.hpp>
#include <gantry/rpc/handlers.hpp>
#include <gantry/rpc/host_platform.hpp>
#include <gantry/rpc/sink.hpp>
#include <gantry/rpc/watch_list.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gantry::rpc {

class Server;

/// The host's end of one open device's channel: owns its memory, serves its calls, prints its text.
/// Thread safety: all functions, any thread; one thread at a time serves.
class Endpoint {
 public:
  struct Shape {
    std::uint32_t ports = 1;  ///< as many as clients can wait at a time, or they wait for each other's ports
    std::uint32_t lanes = 1;  ///< that call together, at most
    std::uint32_t ring_lines =
        64;  ///< of each port, for each lane; a power of two, 4 at least; a call must fit in less than half
  };

  /// Makes the channel; the server serves it from now on, until close(). `services` outlives it.
  static Result<std::shared_ptr<Endpoint>> open(Server& server, std::string_view backend, DeviceServices& services,
                                                const Shape& shape);
  /// No client may be left.
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  [[nodiscard]] Channel& channel() noexcept { return *m_channel; }
  [[nodiscard]] const std::string& name() const noexcept { return m_services.name(); }

  /// Becomes the one that serves, unless another thread is; until leave().
  bool try_enter() noexcept;
  void leave() noexcept;
  [[nodiscard]] bool is_served() const noexcept { return m_serving.load(std::memory_order_seq_cst); }
  /// Serves what is there. False: nothing was there.
  bool serve();
  /// For a server about to sleep: unwatch(), a heavy fence, then anything(); see WatchList.
  void unwatch() noexcept { m_watched.unwatch(); }
  bool anything() noexcept { return !m_closed && m_watched.anything(); }
  /// Waits until everything that was posted before has been done, and its text is visible, at most `timeout`. Returns
  /// at once inside one of the device's handlers, and when the channel is aborted. A load when nothing was ever posted.
  void flush(std::chrono::nanoseconds timeout = std::chrono::nanoseconds::max()) noexcept {
    if (HostPlatform::load(m_channel->used) != 0) wait_for_all(timeout);
  }
  /// No client waits any more, now or later. False: there was never a call.
  bool abort() noexcept;
  /// Waits until the server has done what was called, aborts, leaves the server; says how many calls were dropped.
  /// Repeatable. `timeout`: a handler does not return; the endpoint stays with the server, and can be closed again.
  Status close(std::chrono::steady_clock::time_point deadline);

  [[nodiscard]] CallStatistics statistics() const noexcept;

 private:
  struct Memory;
  /// Of a message in several records: what has come of each lane's.
  struct Fragments {
    std::vector<std::string> messages;
    bool refused = false;
    [[nodiscard]] bool pending() const noexcept { return refused || !messages.empty(); }
  };
  using Port = ServerPort<HostPlatform>;

  Endpoint(Server& server, std::string_view backend, DeviceServices& services, const Shape& shape,
           std::unique_ptr<Memory> memory);

  void wait_for_all(std::chrono::nanoseconds timeout) noexcept;
  bool visit(Port& port);
  void serve_record(Port& port, const Port::Posted& posted) noexcept;
  void free_lines(Port& port) noexcept;
  Answer serve(Port& port, const Port::Posted& posted) noexcept;
  [[gnu::noinline]] Answer serve_fragment(Port& port, const Port::Posted& posted, bool last) noexcept;
  Answer serve_lane(Port& port, Opcode opcode, std::span<char> payload) noexcept;
  [[gnu::noinline]] Status run_handler(Port& port, Call& call, bool& known);
  Status run_service(Port& port, Call& call, bool& known);
  [[gnu::cold]] void complain(const Port& port, Opcode opcode, std::string_view why) noexcept;
  [[gnu::cold]] Status print_abort(Port& port, const Call& call);
  std::uint64_t count_dropped() noexcept;
  void count(std::atomic<std::uint64_t>& counter, std::uint64_t more = 1) noexcept;

  Server& m_server;
  const std::string m_backend;
  DeviceServices& m_services;
  const std::unique_ptr<Memory> m_memory;
  Channel* const m_channel;

  std::atomic<bool> m_serving{false};          ///< guards all below: who set it serves
  std::atomic<const void*> m_thread{nullptr};  // that serves: the address of something of its own
  bool m_closed = false;
  ExecutionContext m_context;  // of its handlers
  WatchList<HostPlatform> m_watched;
  std::vector<Fragments> m_fragments;  // by port
  Sink m_sink;

  std::atomic<std::uint64_t> m_calls{0};
  std::atomic<std::uint64_t> m_bytes{0};
  std::atomic<std::uint64_t> m_failed{0};
};

}  // namespace gantry::rpc
