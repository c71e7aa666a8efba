// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <backends/host/lane.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace gantry::host {

/// The lanes of a device. A stream keeps its lane until another stream needs one and finds it idle, so a program with
/// few streams binds once; workers look only at lanes that were ever bound. More streams than lanes may be active: a
/// stream without a lane has its kernels run by one worker.
/// Thread safety: all functions, any thread.
class Lanes {
 public:
  explicit Lanes(int slots);

  [[nodiscard]] std::uint32_t bound() const noexcept { return m_bound.load(std::memory_order_acquire); }
  [[nodiscard]] Lane& operator[](std::uint32_t index) noexcept { return *m_lanes[index]; }
  [[nodiscard]] std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(m_lanes.size()); }

  /// A lane for a stream whose lock the caller holds; null when every lane is in use.
  [[nodiscard]] Lane* bind(Stream& stream);
  /// The stream, which is idle, needs its lane no more.
  void unbind(Stream& stream) noexcept;

 private:
  std::mutex m_mutex;  // guards m_bound's changes and every Lane::tenant; taken after a stream's lock
  std::atomic<std::uint32_t> m_bound{0};
  std::vector<std::unique_ptr<Lane>> m_lanes;
};

}  // namespace gantry::host
