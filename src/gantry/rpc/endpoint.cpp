// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/base/log.hpp>
#include <gantry/base/spin_lock.hpp>
#include <gantry/base/try.hpp>
#include <gantry/core/execution_context.hpp>
#include <gantry/rpc/endpoint.hpp>
#include <gantry/rpc/flush.hpp>
#include <gantry/rpc/server.hpp>
#include <gantry/rpc/services.hpp>

#include <fmt/format.h>

#include <sys/mman.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <thread>
#include <utility>

namespace gantry::rpc {
namespace {

/// Records of one port that are served before other ports get their turn.
constexpr int records_a_visit = 16;
/// A record counts its lines in 16 bits.
constexpr std::size_t most_ring_lines = std::size_t{1} << 16;

constexpr std::size_t round_up(std::size_t bytes) noexcept {
  return (bytes + line_bytes - 1) / line_bytes * line_bytes;
}

/// Where the parts of a channel lie.
struct Layout {
  explicit Layout(const Endpoint::Shape& shape) noexcept
      : ports(shape.ports), ring_lines(shape.ring_lines * std::bit_ceil(shape.lanes)) {}

  std::size_t ports;
  std::size_t ring_lines;
  std::size_t bells = sizeof(Channel);
  std::size_t summary = bells + round_up(ports * sizeof(std::uint32_t));
  std::size_t first = summary + round_up((ports + group_ports - 1) / group_ports * sizeof(std::uint32_t));
  std::size_t stride = sizeof(Port) + ring_lines * line_bytes;
  [[nodiscard]] std::size_t bytes() const noexcept { return first + ports * stride; }
};

Channel* make_channel(void* memory, const Endpoint::Shape& shape, Server& server) {
  const Layout layout(shape);
  auto* at = static_cast<char*>(memory);
  auto* channel = new (memory) Channel{};
  channel->ports = shape.ports;
  channel->ring_lines = static_cast<std::uint32_t>(layout.ring_lines);
  channel->port_stride = static_cast<std::uint32_t>(layout.stride);
  channel->bells = reinterpret_cast<std::uint32_t*>(at + layout.bells);
  channel->summary = reinterpret_cast<std::uint32_t*>(at + layout.summary);
  channel->first = reinterpret_cast<Port*>(at + layout.first);
  server.connect(*channel);
  return channel;
}

Status check(const Endpoint::Shape& shape) {
  if (shape.ports > 0 && shape.lanes > 0 && shape.lanes <= most_lanes && std::has_single_bit(shape.ring_lines) &&
      shape.ring_lines >= 4 && Layout(shape).ring_lines <= most_ring_lines)
    return {};
  return Status::error(Code::invalid_argument, fmt::format("a channel of {} ports, {} lanes and {} lines a ring",
                                                           shape.ports, shape.lanes, shape.ring_lines));
}

thread_local constinit char t_self = 0;  // its address names the thread

}  // namespace

/// Zeroed pages, which take no room until a port is used.
struct Endpoint::Memory {
  Memory(void* at, std::size_t length) noexcept : address(at), bytes(length) {}
  ~Memory() { ::munmap(address, bytes); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  void* address;
  std::size_t bytes;
};

Result<std::shared_ptr<Endpoint>> Endpoint::open(Server& server, std::string_view backend, DeviceServices& services,
                                                 const Shape& shape) {
  GANTRY_TRY(check(shape));
  const std::size_t bytes = Layout(shape).bytes();
  void* address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) {
    const int error = errno;
    return Status::error(
        Code::out_of_memory,
        fmt::format("{}: no room for the {} bytes that its remote procedure calls need", services.name(), bytes),
        error);
  }
  auto memory = std::make_unique<Memory>(address, bytes);
  std::shared_ptr<Endpoint> endpoint(new Endpoint(server, backend, services, shape, std::move(memory)));
  GANTRY_TRY(endpoint->m_sink.check());
  server.attach(endpoint);
  return endpoint;
}

Endpoint::Endpoint(Server& server, std::string_view backend, DeviceServices& services, const Shape& shape,
                   std::unique_ptr<Memory> memory)
    : m_server(server),
      m_backend(backend),
      m_services(services),
      m_memory(std::move(memory)),
      m_channel(make_channel(m_memory->address, shape, server)),
      m_watched(*m_channel),
      m_fragments(shape.ports),
      m_sink(services.id(), services.name()) {
  m_context.kind = ExecutionContext::Kind::call_handler;
  m_context.device = services.id();
}

Endpoint::~Endpoint() = default;

// -- serving

bool Endpoint::try_enter() noexcept {
  if (m_serving.load(std::memory_order_relaxed) || m_serving.exchange(true, std::memory_order_acquire)) return false;
  m_thread.store(&t_self, std::memory_order_relaxed);
  return true;
}

void Endpoint::leave() noexcept {
  m_thread.store(nullptr, std::memory_order_relaxed);
  m_serving.store(false, std::memory_order_release);
}

bool Endpoint::serve() {
  if (m_closed) return false;
  const ExecutionScope scope(m_context);
  return m_watched.pass([this](Port& port) { return visit(port); });
}

/// Serves some records of a port; their text is visible before their lines are free again. True: there were any.
bool Endpoint::visit(Port& port) {
  Port::Posted posted;
  int served = 0;
  for (; served < records_a_visit && port.next(posted); ++served) serve_record(port, posted);
  if (served != 0) free_lines(port);
  return served != 0;
}

[[gnu::always_inline]] inline void Endpoint::serve_record(Port& port, const Port::Posted& posted) noexcept {
  // Who waited for an aborted call has left: what it asked for would be nobody's.
  const bool left = posted.wants_answer() && HostPlatform::load(m_channel->aborted) != 0;
  const Answer answer = left ? Answer::aborted : serve(port, posted);
  if (posted.wants_answer()) m_sink.flush();
  count(m_calls);
  if (posted.sound) count(m_bytes, posted.head.bytes * std::uint64_t{posted.count});
  port.finish(posted, answer);
  m_server.progressed();
}

void Endpoint::free_lines(Port& port) noexcept {
  m_sink.flush();
  port.free_lines();
}

[[gnu::always_inline]] inline Answer Endpoint::serve(Port& port, const Port::Posted& posted) noexcept {
  if (!posted.sound) {
    complain(port, posted.head.opcode, "refused: its record is damaged");
    return Answer::refused;
  }
  if (posted.more() || m_fragments[port.number()].pending()) return serve_fragment(port, posted, !posted.more());
  Answer answer = Answer::ok;
  char* payload = posted.payload;
  for (std::uint32_t lane = 0; lane < posted.count; ++lane, payload += posted.head.bytes) {
    const Answer one = serve_lane(port, posted.head.opcode, {payload, posted.head.bytes});
    if (one != Answer::ok) answer = one;
  }
  return answer;
}

Answer Endpoint::serve_fragment(Port& port, const Port::Posted& posted, bool last) noexcept {
  Fragments& all = m_fragments[port.number()];
  try {
    if (all.messages.empty() && !all.refused) all.messages.resize(posted.count);
    if (!all.refused &&
        (all.messages.size() != posted.count || all.messages.front().size() + posted.head.bytes > most_message_bytes))
      throw std::length_error(
          fmt::format("refused: it has more than {} bytes, or changes its lanes", most_message_bytes));
    for (std::size_t i = 0; !all.refused && i < posted.count; ++i)
      all.messages[i].append(posted.payload + i * posted.head.bytes, posted.head.bytes);
  } catch (const std::exception& error) {  // no memory, too
    complain(port, posted.head.opcode, error.what());
    all.refused = true;
    all.messages.clear();
  }
  if (!last) return Answer::ok;
  Fragments whole = std::exchange(all, {});
  Answer answer = whole.refused ? Answer::refused : Answer::ok;
  for (std::string& message : whole.messages) {
    const Answer one = serve_lane(port, posted.head.opcode, {message.data(), message.size()});
    if (one != Answer::ok) answer = one;
  }
  return answer;
}

[[gnu::always_inline]] inline Answer Endpoint::serve_lane(Port& port, Opcode opcode, std::span<char> payload) noexcept {
  Call call{m_context.device, opcode, payload};
  bool known = true;
  try {
    const bool handled = impl::HandlerRef::may_have(opcode);
    const Status status = handled ? run_handler(port, call, known) : run_service(port, call, known);
    if (status.ok()) return Answer::ok;
    complain(port, opcode, status.text());
  } catch (const std::exception& error) {
    complain(port, opcode, error.what());
  } catch (...) {
    complain(port, opcode, "it threw something that is no std::exception");
  }
  return known ? Answer::failed : Answer::unknown;
}

/// A kernel can make the same mistake a million times.
void Endpoint::complain(const Port& port, Opcode opcode, std::string_view why) noexcept {
  constexpr std::uint64_t most_complaints = 20;
  count(m_failed);
  const std::uint64_t number = m_failed.load(std::memory_order_relaxed);
  if (number > most_complaints) return;
  try {
    log(LogLevel::error, fmt::format("{}: port {}, call {:#010x}: {}{}", name(), port.number(), opcode, why,
                                     number < most_complaints ? "" : " (further failures are counted only)"));
  } catch (const std::exception&) {
    log(LogLevel::error, "a call of a kernel failed, and there is no memory to say more");
  }
}

Status Endpoint::run_handler(Port& port, Call& call, bool& known) {
  if (const auto handler = impl::HandlerRef::find(m_backend, call.opcode)) {
    m_sink.flush();  // what came before: the handler may end the process, or wait for who reads it
    return handler(call);
  }
  return run_service(port, call, known);
}

Status Endpoint::run_service(Port& port, Call& call, bool& known) {
  switch (call.opcode) {
    case print_opcode: return print(call.payload, m_sink);
    case allocate_opcode: return allocate(call.payload, m_services);
    case free_opcode: return deallocate(call.payload, m_services);
    case abort_opcode: return print_abort(port, call);
    case echo_opcode: return {};
    default: break;
  }
  known = false;
  switch (class_of(call.opcode)) {
    case OpcodeClass::function: return Status::error(Code::not_found, "the host function has ended");
    case OpcodeClass::port: return Status::error(Code::not_found, "the reference is to no host function");
    default: return Status::error(Code::not_found, "there is no handler for it");
  }
}

/// The text of an abort comes last: what the device printed before is older than the abort's own record, so it is
/// there.
Status Endpoint::print_abort(Port& port, const Call& call) {
  for (Port& other : m_watched.ports()) {
    if (&other == &port) continue;
    Port::Posted posted;
    while (other.next(posted) && posted.head.opcode != abort_opcode) serve_record(other, posted);
    free_lines(other);
  }
  m_sink.flush();
  return write_abort(call.payload, name());
}

// -- ending

void Endpoint::wait_for_all(std::chrono::nanoseconds timeout) noexcept {
  if (m_thread.load(std::memory_order_relaxed) != &t_self) flush_channel(*m_channel, timeout);
}

bool Endpoint::abort() noexcept {
  HostPlatform::store(m_channel->aborted, 1);
  HostPlatform::heavy_fence();  // `aborted`, then who sleeps; a client goes the other way round
  for (std::uint32_t i = 0; i < m_channel->ports; ++i) {
    rpc::Port& port = m_channel->port(i);
    if (HostPlatform::load(port.rare.asleep) != 0) HostPlatform::signal(port.rare.signal);
  }
  return HostPlatform::load(m_channel->used) != 0;
}

Status Endpoint::close(std::chrono::steady_clock::time_point deadline) {
  const auto late = [&] { return std::chrono::steady_clock::now() > deadline; };
  const auto nap = [](int polls) {
    if (polls < 100) {
      SpinLock::wait(polls);
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  };
  // The server does what was called before, as ever: not this thread, which may hold locks.
  if (!all_served(*m_channel)) m_server.start().ignore();  // there may have been no thread to have before
  for (int polls = 0; !all_served(*m_channel) && m_server.serves() && !late(); ++polls) {
    nap(polls);
    if (polls % 16 == 15) m_channel->waiting(*m_channel);
  }
  abort();
  for (int polls = 0; !try_enter(); ++polls) {
    if (late()) return Status::error(Code::timeout, name() + ": the handler of one of its calls does not return");
    nap(polls);
  }
  const bool first = !std::exchange(m_closed, true);
  leave();
  if (!first) return {};
  m_server.detach(*this);
  if (const std::uint64_t dropped = count_dropped(); dropped != 0)
    log(LogLevel::warning,
        fmt::format("{}: {} calls of its kernels were dropped when it was aborted", name(), dropped));
  return {};
}

/// Calls that were not sent, or not served, and that nobody waited for. The endpoint is closed.
std::uint64_t Endpoint::count_dropped() noexcept {
  std::uint64_t dropped = 0;
  for (Port& port : m_watched.ports()) {
    dropped += HostPlatform::load(m_channel->port(port.number()).client.dropped);
    for (Port::Posted posted; port.next(posted); port.finish(posted, Answer::aborted))
      dropped += posted.wants_answer() ? 0 : 1;
  }
  return dropped;
}

// -- statistics

void Endpoint::count(std::atomic<std::uint64_t>& counter, std::uint64_t more) noexcept {
  counter.store(counter.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);  // one thread serves
}

CallStatistics Endpoint::statistics() const noexcept {
  CallStatistics all;
  all.calls = m_calls.load(std::memory_order_relaxed);
  all.bytes = m_bytes.load(std::memory_order_relaxed);
  all.failed = m_failed.load(std::memory_order_relaxed);
  return all;
}

}  // namespace gantry::rpc
