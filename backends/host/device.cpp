// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <backends/host/device.hpp>
#include <backends/host/event.hpp>
#include <backends/host/queue.hpp>
#include <gantry/base/try.hpp>

#include <fmt/format.h>

#include <utility>

namespace gantry::host {

Result<std::unique_ptr<Device>> HostDevice::open(EngineOptions options, Protect protect, int devices) {
  GANTRY_TRY_ASSIGN(auto protection, Protection::create(protect, options.device_name));
  // While a kernel runs, pages are open to all threads: the launching one at least must not go on meanwhile.
  if (protection != nullptr && protection->by_pages()) options.blocking = true;
  auto engine = std::make_unique<Engine>(std::move(options), std::move(protection));
  GANTRY_TRY(engine->workers.start());
  return std::unique_ptr<Device>(new HostDevice(std::move(engine), devices));
}

HostDevice::HostDevice(std::unique_ptr<Engine> engine, int devices)
    : m_engine(std::move(engine)), m_memory(m_engine->options.device_name, devices, m_engine->protection.get()) {}

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
