// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/asymmetric_fence.hpp>
#include <gantry/base/export.hpp>
#include <gantry/rpc/protocol.hpp>

namespace gantry::rpc {

/// Platform of threads of this process, each one lane: clients of host devices, and the server.
struct GANTRY_API HostPlatform {
  bool alone = false;  ///< no other client can open the port: it needs no lock

  static constexpr std::uint64_t lanes() noexcept { return 1; }
  static constexpr std::uint32_t count() noexcept { return 1; }
  static constexpr std::uint32_t lane() noexcept { return 0; }
  static constexpr bool leads() noexcept { return true; }
  static constexpr void sync() noexcept {}
  static constexpr std::uint32_t broadcast(std::uint32_t value) noexcept { return value; }
  static constexpr std::uint32_t max(std::uint32_t value) noexcept { return value; }

  static std::uint32_t load(const std::uint32_t& word) noexcept { return __atomic_load_n(&word, __ATOMIC_ACQUIRE); }
  static void store(std::uint32_t& word, std::uint32_t value) noexcept {
    __atomic_store_n(&word, value, __ATOMIC_RELEASE);
  }
  bool take(std::uint32_t& word) const noexcept { return alone || exchange(word, 1) == 0; }
  static std::uint32_t exchange(std::uint32_t& word, std::uint32_t value) noexcept {
    return __atomic_exchange_n(&word, value, __ATOMIC_ACQ_REL);
  }
  static void light_fence() noexcept { AsymmetricFence::light(); }
  static void heavy_fence() noexcept { AsymmetricFence::heavy(); }

  /// Polls, then yields the CPU, which the server may need.
  static bool wait(std::uint32_t polls) noexcept;
  /// Sleeps while `word` has `value`, some milliseconds at most; then says that it waits.
  static void sleep(std::uint32_t& word, std::uint32_t value, Channel& channel) noexcept;
  static void wake(Channel& channel) noexcept { channel.wake(channel); }

  /// Changes a signal and wakes who sleeps on it.
  static void signal(std::uint32_t& word) noexcept;
};

}  // namespace gantry::rpc
