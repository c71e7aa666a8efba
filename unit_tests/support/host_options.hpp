// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <backends/host/engine.hpp>
#include <gantry/base/leaky.hpp>
#include <gantry/rpc/server.hpp>

namespace gantry::test {

/// Serves the calls of devices that a test makes by itself.
inline rpc::Server& test_server() {
  static Leaky<rpc::Server> server(rpc::Server::Options{.name = "test"});
  return *server;
}

/// A host device with so many thread slots on the CPUs of the calling thread.
inline host::EngineOptions host_options(int slots) {
  host::EngineOptions options;
  options.device_name = "host";
  options.slots = slots;
  options.cpus = CpuSet::of_calling_thread();
  if (slots > options.cpus.size()) options.spin = std::chrono::nanoseconds(0);
  return options;
}

}  // namespace gantry::test
