// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/spin_lock.hpp>

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>

namespace gantry::host {

class Stream;

/// Streams that have work to go on with and no thread that does, first come first served.
/// Thread safety: all functions, any thread.
class ReadyList {
 public:
  void push(Stream& stream) {
    const std::lock_guard lock(m_lock);
    m_streams.push_back(&stream);
    m_count.store(static_cast<std::uint32_t>(m_streams.size()), std::memory_order_release);
  }
  /// Null when there is none.
  [[nodiscard]] Stream* pop() {
    if (empty()) return nullptr;
    const std::lock_guard lock(m_lock);
    if (m_streams.empty()) return nullptr;
    Stream* stream = m_streams.front();
    m_streams.pop_front();
    m_count.store(static_cast<std::uint32_t>(m_streams.size()), std::memory_order_release);
    return stream;
  }
  [[nodiscard]] bool empty() const noexcept { return m_count.load(std::memory_order_acquire) == 0; }

 private:
  std::atomic<std::uint32_t> m_count{0};  // polled without the lock
  SpinLock m_lock;                        // guards m_streams
  std::deque<Stream*> m_streams;
};

}  // namespace gantry::host
