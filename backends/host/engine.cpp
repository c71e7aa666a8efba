// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <backends/host/engine.hpp>

namespace gantry::host {

void Engine::ring_reserve(bool at_once) noexcept {
  AsymmetricFence::full();  // doorbell, then `busy`; a worker in a long job goes the other way round
  if (at_once || options.slots == 1 || workers.all_busy()) workers.wake_reserve();
}

void Engine::ring_ready() noexcept {
  AsymmetricFence::light();
  workers.wake(1);
  ring_reserve(false);
}

void Engine::add(Stream& stream) {
  const std::lock_guard lock(m_mutex);
  m_streams.push_back(&stream);
}

void Engine::remove(Stream& stream) {
  const std::lock_guard lock(m_mutex);
  std::erase(m_streams, &stream);
}

bool Engine::drain(std::chrono::steady_clock::time_point deadline) {
  std::vector<Stream*> streams;
  {
    const std::lock_guard lock(m_mutex);
    streams = m_streams;
  }
  bool drained = true;
  for (Stream* stream : streams) drained &= stream->wait_until_idle(deadline);
  return drained;
}

}  // namespace gantry::host
