// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <backends/host/cost.hpp>
#include <backends/host/engine.hpp>
#include <backends/host/event.hpp>
#include <backends/host/queue.hpp>
#include <backends/host/stream_inline.hpp>
#include <backends/host/transfer.hpp>
#include <gantry/base/try.hpp>

#include <fmt/format.h>

#include <limits>

namespace gantry::host {
namespace {

Status check_range(const char* what, const void* to, const void* from, std::uint64_t bytes) {
  if (bytes > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    return Status::error(Code::invalid_argument,
                         fmt::format("{} of {} bytes: no memory is that large (a size that wrapped?)", what, bytes));
  if (to != nullptr && from != nullptr) return {};
  return Status::error(Code::invalid_argument,
                       fmt::format("{} of {} bytes {} a null pointer", what, bytes, to == nullptr ? "to" : "from"));
}

Status not_of_the_host(const char* what) {
  return Status::error(
      Code::invalid_argument,
      fmt::format("{}: the event belongs to another kind of device than the queue, a host device", what));
}

}  // namespace

HostQueue::HostQueue(Engine& engine, const QueueOptions& options)
    : m_engine(&engine), m_stream(std::make_unique<Stream>(engine, *this, options)) {
  m_engine->add(*m_stream);
}

HostQueue::~HostQueue() = default;

const HostQueue* HostQueue::of_running_kernel() noexcept {
  const ExecutionContext* context = execution_context();
  if (context == nullptr || context->kind != ExecutionContext::Kind::kernel) return nullptr;
  return dynamic_cast<const HostQueue*>(context->queue);  // null: of another backend
}

Status HostQueue::launch(const KernelInfo& kernel, const Launch& launch, const void* body) {
  if (m_stream->run_at_once<true>(kernel, launch, body, Cost::trained_estimate(kernel, launch.count))) [[likely]]
    return {};  // so its host code is there
  return check_and_start(kernel, launch, body);
}

Status HostQueue::check_and_start(const KernelInfo& kernel, const Launch& launch, const void* body) {
  const char* name = launch.label != nullptr ? launch.label : kernel.type;
  if (kernel.host == nullptr)
    return Status::error(Code::unavailable, fmt::format("kernel '{}' has no code for a host device", name));
  if (launch.count < 0)
    return Status::error(Code::invalid_argument,
                         fmt::format("kernel '{}' was launched over {} items", name, launch.count));
  return start(kernel, launch, body, Cost::estimate(kernel, launch.count));
}

Status HostQueue::start(const KernelInfo& kernel, const Launch& launch, const void* body, float estimate) {
  // A kernel may drop the last reference to the queue, which may then be gone as soon as it was launched.
  if (m_engine->options.blocking) [[unlikely]] {
    Stream& stream = *m_stream;
    const Stream::Inside waiting(stream);
    GANTRY_TRY(stream.launch(kernel, launch, body, estimate));
    return stream.sync();
  }
  return m_stream->launch(kernel, launch, body, estimate);
}

template <class Body>
Status HostQueue::transfer(const KernelInfo& kernel, const Body& body) {
  const Launch launch = body.launch();
  const float estimate = body.estimate();
  if (m_stream->run_at_once<false>(kernel, launch, &body, estimate)) return {};
  return start(kernel, launch, &body, estimate);
}

Status HostQueue::copy(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return m_engine->fault.error();
  if (Status status = check_range("a copy", to, from, bytes); !status.ok()) return status;
  return transfer(copy_kernel, CopyBody{static_cast<char*>(to), static_cast<const char*>(from), bytes});
}

Status HostQueue::write(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return m_engine->fault.error();
  if (Status status = check_range("a write", to, from, bytes); !status.ok()) return status;
  return transfer(write_kernel, CopyBody{static_cast<char*>(to), static_cast<const char*>(from), bytes});
}

Status HostQueue::fill(void* to, const void* pattern, std::size_t pattern_bytes, std::size_t count) {
  if (count == 0) return m_engine->fault.error();
  if (pattern_bytes == 0 || pattern_bytes > std::numeric_limits<std::uint32_t>::max() ||
      count > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) / pattern_bytes)
    return Status::error(Code::invalid_argument,
                         fmt::format("a fill of {} elements of {} bytes", count, pattern_bytes));
  if (Status status = check_range("a fill", to, pattern, count * pattern_bytes); !status.ok()) return status;
  return transfer(fill_kernel, FillBody{static_cast<char*>(to), static_cast<const char*>(pattern),
                                        static_cast<std::uint32_t>(pattern_bytes), count});
}

Status HostQueue::record(Event& event) {
  auto* host = dynamic_cast<HostEvent*>(&event);
  return host != nullptr ? m_stream->record(*host) : not_of_the_host("record");
}

Status HostQueue::wait(Event& event) {
  auto* host = dynamic_cast<HostEvent*>(&event);
  return host != nullptr ? m_stream->wait(*host) : not_of_the_host("wait");
}

Status HostQueue::host_function(void (*function)(void*), void* argument) {
  if (function == nullptr) return Status::error(Code::invalid_argument, "the host function is null");
  if (m_engine->options.blocking) {
    Stream& stream = *m_stream;
    const Stream::Inside waiting(stream);
    GANTRY_TRY(stream.host_function(function, argument));
    return stream.sync();
  }
  return m_stream->host_function(function, argument);
}

Status HostQueue::sync() {
  Engine& engine = *m_engine;
  Status status = m_stream->sync();  // the stream may be gone
  if (engine.calls != nullptr) engine.calls->flush();
  return status;
}

rpc::Channel* HostQueue::channel() const noexcept {
  return m_engine->calls != nullptr ? &m_engine->calls->channel() : nullptr;
}

bool HostQueue::idle() const noexcept {
  return m_stream->idle();
}

Status HostQueue::close() {
  m_engine->remove(*m_stream);
  m_stream->close();
  m_stream.reset();
  return {};
}

}  // namespace gantry::host
