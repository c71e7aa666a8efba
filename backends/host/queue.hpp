// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/core/queue.hpp>

#include <memory>

namespace gantry::host {

struct Engine;
class Stream;

/// A queue of a host device: checks what it is given and puts it into a stream, which does the work.
class HostQueue final : public Queue {
 public:
  HostQueue(Engine& engine, const QueueOptions& options);
  ~HostQueue() override;

  Status launch(const KernelInfo& kernel, const Launch& launch, const void* body) override;
  Status copy(void* to, const void* from, std::size_t bytes) override;
  Status write(void* to, const void* from, std::size_t bytes) override;
  Status fill(void* to, const void* pattern, std::size_t pattern_bytes, std::size_t count) override;
  Status record(Event& event) override;
  Status wait(Event& event) override;
  Status host_function(void (*function)(void*), void* argument) override;
  Status sync() override;
  [[nodiscard]] bool idle() const noexcept override;
  [[nodiscard]] rpc::Channel* channel() const noexcept override;
  Status close() override;

  /// The host queue whose kernel (or copy, or fill) the calling thread runs; null: none. For signal handlers too.
  [[nodiscard]] static const HostQueue* of_running_kernel() noexcept;
  [[nodiscard]] const Engine& engine() const noexcept { return *m_engine; }

 private:
  Status check_and_start(const KernelInfo& kernel, const Launch& launch, const void* body);
  template <class Body>
  Status transfer(const KernelInfo& kernel, const Body& body);
  Status start(const KernelInfo& kernel, const Launch& launch, const void* body, float estimate);

  Engine* const m_engine;
  std::unique_ptr<Stream> m_stream;
};

}  // namespace gantry::host
