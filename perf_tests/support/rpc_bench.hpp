// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/core/execution_context.hpp>
#include <gantry/core/queue.hpp>
#include <gantry/rpc/endpoint.hpp>
#include <gantry/rpc/server.hpp>

#include "support/rtt.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace perf {

/// A device that only calls: the benchmark's thread is its kernel, on the first CPU; the server is on the second.
class CallingDevice final : gantry::DeviceServices, gantry::Queue {
 public:
  explicit CallingDevice(std::uint32_t ports, std::string name = "device", gantry::DeviceId id = 0)
      : m_id(id), m_name(std::move(name)) {
    gantry::rpc::Endpoint::Shape shape;
    shape.ports = ports;
    m_endpoint = gantry::rpc::Endpoint::open(server(), "perf", *this, shape).value();
  }
  ~CallingDevice() override { m_endpoint->close(std::chrono::steady_clock::time_point::max()).ignore(); }

  static gantry::rpc::Server& server() {
    static auto& instance = *new gantry::rpc::Server({.name = "perf", .on_thread_start = [] { pin_to_cpu(1); }});
    return instance;
  }

  void flush() noexcept { m_endpoint->flush(); }

  /// The calling thread runs a kernel of the device while one lives.
  class Kernel {
   public:
    explicit Kernel(CallingDevice& device, std::uint32_t slot = 0)
        : m_scope((m_context.queue = &device, m_context.slot = slot, m_context)) {}

   private:
    gantry::ExecutionContext m_context;
    gantry::ExecutionScope m_scope;
  };

 private:
  using Status = gantry::Status;
  [[nodiscard]] gantry::DeviceId id() const noexcept override { return m_id; }
  [[nodiscard]] const std::string& name() const noexcept override { return m_name; }
  gantry::Result<void*> allocate(std::size_t) override { return nullptr; }
  Status deallocate(void*) override { return {}; }

  Status launch(const gantry::KernelInfo&, const gantry::Launch&, const void*) override { return {}; }
  Status copy(void*, const void*, std::size_t) override { return {}; }
  Status write(void*, const void*, std::size_t) override { return {}; }
  Status fill(void*, const void*, std::size_t, std::size_t) override { return {}; }
  Status record(gantry::Event&) override { return {}; }
  Status wait(gantry::Event&) override { return {}; }
  Status host_function(void (*)(void*), void*) override { return {}; }
  Status sync() override { return {}; }
  [[nodiscard]] bool idle() const noexcept override { return true; }
  Status close() override { return {}; }
  [[nodiscard]] gantry::rpc::Channel* channel() const noexcept override { return &m_endpoint->channel(); }

  gantry::DeviceId m_id;
  std::string m_name;
  std::shared_ptr<gantry::rpc::Endpoint> m_endpoint;
};

}  // namespace perf
