// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "support/rtt.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <thread>
#include <type_traits>

namespace perf {

/// The least a shared-memory launch can be: the caller and one worker, pinned to two cores, always spinning; a line
/// (two for large bodies) goes out with the work, one comes back. No queue, no error, no sleep, no kernel object.
class SpinPool {
 public:
  /// The process's pool. Its worker spins until the process ends.
  static SpinPool& get() {
    static SpinPool& pool = *new SpinPool;
    return pool;
  }

  static constexpr int threads = 2;

  /// Calls work(0) here and work(1) on the worker; returns when both have.
  template <class Work>
  void run(const Work& work) {
    static_assert(std::is_trivially_copyable_v<Work> && sizeof(Work) <= sizeof(m_post.body));
    m_post.call = [](const void* body, int thread) { (*static_cast<const Work*>(body))(thread); };
    std::memcpy(m_post.body, &work, sizeof(Work));
    const std::uint64_t number = m_post.number.load(std::memory_order_relaxed) + 1;
    m_post.number.store(number, std::memory_order_release);
    work(0);
    while (m_done.load(std::memory_order_acquire) != number) pause();
  }

 private:
  SpinPool() {
    std::thread([this] { serve(); }).detach();
    run([](int) {});
    pin_to_cpu(0);
  }

  [[noreturn]] void serve() {
    pin_to_cpu(1);
    for (std::uint64_t number = 1;; ++number) {
      while (m_post.number.load(std::memory_order_acquire) < number) pause();
      m_post.call(m_post.body, 1);
      m_done.store(number, std::memory_order_release);
    }
  }

  struct alignas(128) Post {
    std::atomic<std::uint64_t> number{0};
    void (*call)(const void* body, int thread) = nullptr;
    std::byte body[112];
  };
  Post m_post;
  alignas(128) std::atomic<std::uint64_t> m_done{0};
};

/// The part of n items that one of SpinPool's two threads gets.
struct Half {
  Half(int thread, std::int64_t n) : begin(thread == 0 ? 0 : n / 2), end(thread == 0 ? n / 2 : n) {}
  std::int64_t begin;
  std::int64_t end;
};

}  // namespace perf
