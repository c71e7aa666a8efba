// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/rpc/host_platform.hpp>

#include <algorithm>
#include <array>
#include <barrier>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

namespace gantry::rpc {

/// Lanes that run in step, as those of a warp do: each is a thread of this process.
class SimulatedWarp {
 public:
  static constexpr std::uint32_t size = 4;
  static constexpr std::uint64_t all = (1U << size) - 1;

  /// The lanes of a mask that run the same code together; what they tell each other goes through it.
  class Branch {
   public:
    explicit Branch(std::uint64_t mask) : m_mask(mask), m_barrier(std::popcount(mask)) {}

    [[nodiscard]] std::uint64_t mask() const noexcept { return m_mask; }
    void sync() { m_barrier.arrive_and_wait(); }
    /// What each of the lanes has passed, by its number among them; the rest are 0.
    std::array<std::uint32_t, size> exchange(std::uint32_t number, std::uint32_t value) {
      m_values[number] = value;
      sync();
      const std::array<std::uint32_t, size> values = m_values;
      sync();
      return values;
    }

   private:
    const std::uint64_t m_mask;
    std::barrier<> m_barrier;
    std::array<std::uint32_t, size> m_values{};
  };

  /// One lane, as a Client's Platform.
  class Lane : public HostPlatform {
   public:
    Lane(Branch& branch, std::uint32_t number) : m_branch(&branch), m_number(number) {}

    [[nodiscard]] std::uint64_t lanes() const noexcept { return m_branch->mask(); }
    [[nodiscard]] std::uint32_t count() const noexcept {
      return static_cast<std::uint32_t>(std::popcount(m_branch->mask()));
    }
    [[nodiscard]] std::uint32_t lane() const noexcept { return m_number; }
    /// The last of them, so that whoever takes the leader for lane 0 is found out.
    [[nodiscard]] bool leads() const noexcept { return m_number == count() - 1; }
    void sync() const noexcept { m_branch->sync(); }
    [[nodiscard]] std::uint32_t broadcast(std::uint32_t value) const noexcept {
      return m_branch->exchange(m_number, value)[count() - 1];
    }
    [[nodiscard]] std::uint32_t max(std::uint32_t value) const noexcept {
      const auto values = m_branch->exchange(m_number, value);
      return *std::max_element(values.begin(), values.end());
    }

   private:
    Branch* m_branch;
    std::uint32_t m_number;
  };

  /// Calls body(Lane, id) in the lanes of a mask, at once; `id` is the lane's in the warp.
  template <class Body>
  static void run(std::uint64_t mask, const Body& body) {
    Branch branch(mask);
    std::vector<std::jthread> threads;
    std::uint32_t number = 0;
    for (std::uint32_t id = 0; id < size; ++id)
      if ((mask >> id & 1) != 0)
        threads.emplace_back([&body, &branch, number = number++, id] { body(Lane(branch, number), id); });
  }
};

}  // namespace gantry::rpc
