// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/futex.hpp>
#include <gantry/core/kernel.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace gantry::host {

class Stream;

/// What the threads that run one phase of a kernel need to know of it.
struct Job {
  const KernelInfo* kernel = nullptr;
  const void* body = nullptr;
  std::int64_t count = 0;
  std::int64_t chunk = 0;  ///< above 0: dynamic schedule
  char* scratch = nullptr;
  std::uint32_t scratch_stride = 0;
  std::uint8_t phase = 0;
  bool sample = false;     ///< measure what the items cost
  bool wants_all = false;  ///< long, or of unknown length: worth waking a thread for the launching thread's part

  /// Items of one share: contiguous, sizes differ by one at most.
  [[nodiscard]] WorkRange range(std::uint32_t share, std::uint32_t shares) const noexcept {
    if (shares <= 1) return {0, count};
    const std::int64_t size = count / shares;
    const std::int64_t rest = count % shares;
    const std::int64_t begin = share * size + std::min<std::int64_t>(share, rest);
    return {begin, begin + size + (share < rest ? 1 : 0)};
  }
};

/// Where a kernel is published to the workers: one kernel (one phase of it) at a time, of one stream at a time.
///
/// The way of an empty launch, in cache lines that move between the launching core and a worker's (each move is half a
/// round trip, and nothing else is on the way):
///
///     launching thread                                    worker
///     body -> `small_body`, job, `doorbell` (line 1)  ->  polls `doorbell`; line 1 has all that it needs
///     attaches to `finished`, runs block 0                claims its block in a line that only it touches, runs it
///     polls `finished`                                <-  adds to `finished` (line 2)
///
/// Shares form one block for each thread slot. A block is claimed share by share, by its own thread or by a thief, in a
/// word {epoch, shares taken} that needs no reset: a smaller epoch means that nothing is taken yet. A job ends only
/// when every share was claimed and finished, so whoever holds a claim may read the job; nobody else may.
///
/// `finished` only ever grows: its low half counts finished shares, its high half attached collectors (a fencing thread
/// that will complete the job). The job remembers where it began, so publishing writes no line but the first.
class Lane {
 public:
  static constexpr std::size_t small_body_bytes = 192;
  static constexpr std::size_t small_body_align = 64;
  static constexpr std::uint64_t attached = std::uint64_t{1} << 32;
  static constexpr std::uint32_t max_shares = 0xffff;

  explicit Lane(std::uint32_t slots) : m_slots(slots), m_claims(std::make_unique<Claim[]>(slots)) {}

  // -- the owner of the stream, which has no job on the lane

  /// Publishes a job; everything written before is visible to who claims.
  void publish(Stream& stream, const Job& job, std::uint32_t shares) noexcept {
    if (m_stream != &stream) m_stream = &stream;  // a write would take the line from the workers that poll
    m_job = job;
    m_begin = m_finished.load(std::memory_order_relaxed);  // stable: no job, so nobody adds
    if (job.chunk > 0) m_cursor.store(0, std::memory_order_relaxed);
    const std::uint64_t epoch = (m_doorbell.load(std::memory_order_relaxed) >> 16) + 1;
    m_doorbell.store(epoch << 16 | shares, std::memory_order_release);
  }
  [[nodiscard]] unsigned char* small_body() noexcept { return m_small_body; }

  // -- any thread

  /// Changes with every job.
  [[nodiscard]] std::uint64_t doorbell() const noexcept { return m_doorbell.load(std::memory_order_acquire); }
  /// Asks for the line of the body, which is needed after the claim.
  void prefetch() const noexcept { __builtin_prefetch(m_small_body); }
  [[nodiscard]] static std::uint32_t shares_of(std::uint64_t doorbell) noexcept { return doorbell & 0xffff; }

  /// Takes one share of a block of the job that rang `doorbell`; false when the block has none left, or the job ended.
  [[nodiscard]] bool claim(std::uint64_t doorbell, std::uint32_t block, std::uint32_t& share) noexcept {
    const std::uint64_t epoch = doorbell >> 16;
    const std::uint64_t shares = shares_of(doorbell);
    const std::uint32_t first = shares * block / m_slots;
    const std::uint32_t end = shares * (block + 1) / m_slots;
    std::atomic<std::uint64_t>& word = m_claims[block].word;
    std::uint64_t seen = word.load(std::memory_order_relaxed);
    for (;;) {
      if (seen >> 16 > epoch) return false;
      const std::uint64_t taken = seen >> 16 == epoch ? seen & 0xffff : 0;
      if (first + taken >= end) return false;
      // acquire/release: a block passes from thread to thread in claim order, doorbell or not
      if (word.compare_exchange_weak(seen, epoch << 16 | (taken + 1), std::memory_order_acq_rel,
                                     std::memory_order_relaxed)) {
        share = first + static_cast<std::uint32_t>(taken);
        return true;
      }
    }
  }

  // -- holders of a claim, or of the completion

  [[nodiscard]] const Job& job() const noexcept { return m_job; }
  [[nodiscard]] Stream& stream() const noexcept { return *m_stream; }
  [[nodiscard]] std::atomic<std::int64_t>& cursor() noexcept { return m_cursor; }
  [[nodiscard]] std::uint64_t begin() const noexcept { return m_begin; }

  /// What `finished` says of the job that began at `begin`.
  struct Progress {
    std::uint32_t shares;
    std::uint32_t collectors;  ///< 1: someone will complete the job; more: and sleeps on word()
  };
  [[nodiscard]] static Progress progress(std::uint64_t finished, std::uint64_t begin) noexcept {
    const std::uint64_t grown = finished - begin;
    return {static_cast<std::uint32_t>(grown), static_cast<std::uint32_t>(grown >> 32)};
  }
  [[nodiscard]] Progress progress() const noexcept {
    return progress(m_finished.load(std::memory_order_acquire), m_begin);
  }
  /// Adds finished shares, or `attached`. The caller's writes are visible to whoever sees the sum, and it sees theirs.
  Progress add(std::uint64_t what, std::uint64_t begin) noexcept {
    return progress(m_finished.fetch_add(what, std::memory_order_acq_rel) + what, begin);
  }
  /// To sleep on while it holds the low half of `finished`.
  [[nodiscard]] const void* word() const noexcept { return low_half(m_finished); }

  /// Which stream may publish here; guarded by Lanes.
  Stream* tenant = nullptr;

 private:
  struct alignas(64) Claim {
    std::atomic<std::uint64_t> word{0};
  };

  // Line 1: written by the publisher, read by all.
  alignas(128) std::atomic<std::uint64_t> m_doorbell{0};
  Job m_job;
  std::uint64_t m_begin = 0;
  alignas(64) unsigned char m_small_body[small_body_bytes];
  // Line 2: written by who finishes, polled by the collector.
  alignas(128) std::atomic<std::uint64_t> m_finished{0};
  // Line 3: written by dynamic schedules alone.
  alignas(128) std::atomic<std::int64_t> m_cursor{0};
  // Line 4: read by all; the same for every launch of one stream.
  alignas(128) Stream* m_stream = nullptr;
  std::uint32_t m_slots;
  std::unique_ptr<Claim[]> m_claims;
};

}  // namespace gantry::host
