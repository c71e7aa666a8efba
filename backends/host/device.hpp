// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <backends/host/engine.hpp>
#include <backends/host/memory.hpp>
#include <gantry/core/device.hpp>
#include <gantry/rpc/server.hpp>

#include <memory>

namespace gantry::host {

/// Some CPUs of the process as a device.
class HostDevice final : public Device {
 public:
  /// `devices`: how many host devices share the process's memory.
  static Result<std::unique_ptr<Device>> open(EngineOptions options, Protect protect, int devices, rpc::Server& server);

  [[nodiscard]] int concurrency() const noexcept override { return m_engine->options.slots; }
  [[nodiscard]] MemoryInfo memory_info() const noexcept override { return m_memory.info(); }
  [[nodiscard]] MemoryTraits memory_traits(MemoryKind kind) const noexcept override;
  Result<std::unique_ptr<Queue>> create_queue(const QueueOptions& options) override;
  Result<std::unique_ptr<Event>> create_event() override;
  Result<std::unique_ptr<Image>> load_image(const ImageSource& source) override;
  Result<void*> allocate(MemoryKind kind, std::size_t bytes) override { return m_memory.allocate(kind, bytes); }
  Status free(MemoryKind kind, void* memory, std::size_t bytes) override { return m_memory.free(kind, memory, bytes); }
  Status open_calls(DeviceServices& services) override;
  void flush_calls(std::chrono::nanoseconds timeout) noexcept override;
  bool abort_calls() noexcept override;
  Status close_calls(std::chrono::nanoseconds timeout) override;
  Status drain(std::chrono::nanoseconds timeout) override;
  [[nodiscard]] Status poison() const override { return m_engine->fault.error(); }
  Status close() override;

 private:
  HostDevice(std::unique_ptr<Engine> engine, int devices, rpc::Server& server);

  const std::unique_ptr<Engine> m_engine;
  Memory m_memory;
  rpc::Server& m_server;
};

}  // namespace gantry::host
