// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <backends/host/device.hpp>
#include <backends/host/event.hpp>
#include <backends/host/fault_message.hpp>
#include <backends/host/queue.hpp>
#include <gantry/base/try.hpp>

#include <fmt/format.h>

#include <utility>

namespace gantry::host {

Result<std::unique_ptr<Device>> HostDevice::open(EngineOptions options, Protect protect, int devices,
                                                 rpc::Server& server) {
  FaultMessage::install();
  GANTRY_TRY_ASSIGN(auto protection, Protection::create(protect, options.device_name));
  // While a kernel runs, pages are open to all threads: the launching one at least must not go on meanwhile.
  if (protection != nullptr && protection->by_pages()) options.blocking = true;
  auto engine = std::make_unique<Engine>(std::move(options), std::move(protection));
  GANTRY_TRY(engine->workers.start());
  return std::unique_ptr<Device>(new HostDevice(std::move(engine), devices, server));
}

HostDevice::HostDevice(std::unique_ptr<Engine> engine, int devices, rpc::Server& server)
    : m_engine(std::move(engine)),
      m_memory(m_engine->options.device_name, devices, m_engine->protection.get()),
      m_server(server) {}

MemoryTraits HostDevice::memory_traits(MemoryKind kind) const noexcept {
  MemoryTraits traits;
  const bool is_protected = m_engine->protection != nullptr && kind == MemoryKind::device;
  if (is_protected && m_engine->protection->by_pages()) traits.granularity = 4096;
  traits.host_addressable = true;
  return traits;
}

Result<std::unique_ptr<Queue>> HostDevice::create_queue(const QueueOptions& options) {
  return std::unique_ptr<Queue>(std::make_unique<HostQueue>(*m_engine, options));
}

Result<std::unique_ptr<Event>> HostDevice::create_event() {
  return std::unique_ptr<Event>(std::make_unique<HostEvent>());
}

Result<std::unique_ptr<Image>> HostDevice::load_image(const ImageSource& source) {
  return Status::error(Code::unavailable, fmt::format("{} runs host code: it loads no {} image of {}",
                                                      m_engine->options.device_name, source.dialect, source.unit));
}

Status HostDevice::open_calls(DeviceServices& services) {
  rpc::Endpoint::Shape shape;
  shape.ports = static_cast<std::uint32_t>(concurrency()) + 1;  // the last one: threads without a slot
  GANTRY_TRY_ASSIGN(m_engine->calls, rpc::Endpoint::open(m_server, "host", services, shape));
  return {};
}

void HostDevice::flush_calls(std::chrono::nanoseconds timeout) noexcept {
  if (m_engine->calls != nullptr) m_engine->calls->flush(timeout);
}

bool HostDevice::abort_calls() noexcept {
  return m_engine->calls != nullptr && m_engine->calls->abort();
}

Status HostDevice::close_calls(std::chrono::nanoseconds timeout) {
  if (m_engine->calls == nullptr) return {};
  return m_engine->calls->close(std::chrono::steady_clock::now() + timeout);
}

Status HostDevice::drain(std::chrono::nanoseconds timeout) {
  if (m_engine->drain(std::chrono::steady_clock::now() + timeout)) return {};
  return Status::error(Code::timeout,
                       fmt::format("{} still runs work after {} ms", m_engine->options.device_name,
                                   std::chrono::duration_cast<std::chrono::milliseconds>(timeout).count()));
}

Status HostDevice::close() {
  m_engine->stop();
  return {};
}

}  // namespace gantry::host
