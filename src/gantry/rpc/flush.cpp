// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/rpc/flush.hpp>
#include <gantry/rpc/host_platform.hpp>

#include <cstdint>
#include <thread>

namespace gantry::rpc {
namespace {

bool served(const Port& port, std::uint32_t place) noexcept {
  return static_cast<std::int32_t>(place - HostPlatform::load(port.server.consumed)) <= 0;
}

}  // namespace

bool all_served(const Channel& channel) noexcept {
  for (std::uint32_t i = 0; i < channel.ports; ++i) {
    const Port& port = channel.port(i);
    if (!served(port, HostPlatform::load(port.client.next))) return false;
  }
  return true;
}

void flush_channel(Channel& channel, std::chrono::nanoseconds timeout) noexcept {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds patience{2};
  Clock::time_point begin{};
  for (std::uint32_t i = 0; i < channel.ports; ++i) {
    const Port& port = channel.port(i);
    const std::uint32_t place = HostPlatform::load(port.client.next);
    for (std::uint32_t polls = 0; !served(port, place); ++polls) {
      if (HostPlatform::load(channel.aborted) != 0) return;
      if (HostPlatform::wait(polls)) continue;
      const Clock::time_point now = Clock::now();
      if (begin == Clock::time_point{}) begin = now;
      if (now - begin > timeout) return;
      if (now - begin > patience) channel.waiting(channel);
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  }
}

}  // namespace gantry::rpc
