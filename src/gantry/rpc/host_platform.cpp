// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/base/futex.hpp>
#include <gantry/base/spin_lock.hpp>
#include <gantry/rpc/host_platform.hpp>

#include <chrono>
#include <thread>

namespace gantry::rpc {
namespace {

/// Some microseconds, the time of a few round trips; then the server may be waiting for this CPU.
constexpr std::uint32_t pauses = 400;
constexpr std::uint32_t yields = 50;
constexpr std::chrono::microseconds long_yield{100};
constexpr std::chrono::milliseconds nap{2};

}  // namespace

bool HostPlatform::wait(std::uint32_t polls) noexcept {
  if (polls < pauses) {
    cpu_pause();
    return true;
  }
  // Where others want the CPU a yield takes their time slice: the next ones would, too.
  const auto before = std::chrono::steady_clock::now();
  std::this_thread::yield();
  return polls < pauses + yields && std::chrono::steady_clock::now() - before < long_yield;
}

void HostPlatform::sleep(std::uint32_t& word, std::uint32_t value, Channel& channel) noexcept {
  futex_wait(&word, value, nap);
  if (load(word) == value) channel.waiting(channel);
}

void HostPlatform::signal(std::uint32_t& word) noexcept {
  __atomic_fetch_add(&word, 1, __ATOMIC_ACQ_REL);
  futex_wake(&word);
}

}  // namespace gantry::rpc
