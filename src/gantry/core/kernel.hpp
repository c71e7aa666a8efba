// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstdint>

namespace gantry {

/// Half-open range [begin, end) of work items. Items are counted from 0; a body maps them to its own index type.
struct WorkRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// What a host device hands to the thread that runs one share of a launch.
///
/// A launch is cut into `shares` contiguous shares, a fixed function of the launch and of the device's concurrency: a
/// body that accumulates per share and joins in share order is deterministic. One thread runs a share from its first
/// piece to its last; any thread may run any share.
class HostWorker {
 public:
  std::uint32_t slot = 0;    ///< thread slot, 0 <= slot < concurrency, held by no other running thread of the device
  std::uint32_t share = 0;   ///< which share this call runs
  std::uint32_t shares = 1;  ///< number of shares of the launch
  std::uint32_t phase = 0;   ///< 0 <= phase < Launch::phases
  void* scratch = nullptr;   ///< Launch::share_scratch bytes of this share, kept from phase to phase, 64-byte aligned

  WorkRange range;                              ///< the whole share when the schedule is fixed
  std::atomic<std::int64_t>* cursor = nullptr;  ///< the launch's next free item when the schedule is dynamic
  std::int64_t chunk = 0;                       ///< items taken at a time when the schedule is dynamic
  std::int64_t count = 0;                       ///< items of the whole launch

  /// Takes the next piece of work; false when the share has none left. With a fixed schedule there is exactly one
  /// piece (possibly empty), with a dynamic one as many as the thread manages to take.
  bool next(WorkRange& piece) noexcept {
    if (cursor == nullptr) {
      if (m_taken) return false;
      m_taken = true;
      piece = range;
      return true;
    }
    piece.begin = cursor->fetch_add(chunk, std::memory_order_relaxed);
    if (piece.begin >= count) return false;
    piece.end = count - piece.begin > chunk ? piece.begin + chunk : count;
    return true;
  }

 private:
  bool m_taken = false;
};

/// Handed to KernelInfo::host_join after the last share of a phase: one thread, in stream order.
struct HostJoin {
  std::uint32_t phase = 0;
  std::uint32_t shares = 1;
  char* scratch = nullptr;  ///< share s has its scratch at scratch + s * scratch_stride
  std::uint64_t scratch_stride = 0;
  void* result = nullptr;  ///< where the result goes (Launch::result); null when the launch has none
  void* share_scratch(std::uint32_t share) const noexcept { return scratch + share * scratch_stride; }
};

/// What a queue has learnt of a kernel's cost; relaxed, advisory, shared by all devices of one process.
struct KernelCost {
  std::atomic<std::uint32_t> samples{0};
  std::atomic<float> ns_per_item{0};
  std::atomic<float> items{0};  ///< how many items a measurement has that `ns_per_item` comes from
};

/// One kernel: a static object per body type and compiler dialect. Plain C++, no Kokkos type, no vendor type.
/// A body is copied into the queue with `copy` and ended with `destroy`, which count as work of the kernel: they can
/// neither enqueue nor wait. Where both are null its bytes may be copied.
struct KernelInfo {
  const char* type = "";       ///< the body's type name, for messages
  const void* stub = nullptr;  ///< host address that a GPU image's registration maps to its kernel; null: host only
  std::uint32_t size = 0;
  std::uint32_t align = 1;
  void (*copy)(void* to, const void* from) = nullptr;
  void (*destroy)(void* body) = nullptr;
  /// Runs one share of one phase on a host device. May throw: the device is then poisoned and the error named.
  void (*host)(const void* body, HostWorker& worker) = nullptr;
  /// Runs once after each phase; null when a kernel needs none. May throw like `host`.
  void (*host_join)(const void* body, const HostJoin& join) = nullptr;
  mutable KernelCost cost;
};

enum class Schedule : std::uint8_t {
  fixed,    ///< every share is one contiguous range
  dynamic,  ///< threads take chunks as they get free
};

/// The numbers of one launch. `count` items in all; nothing runs (but host_join does) when it is 0.
struct Launch {
  std::int64_t count = 0;
  std::int64_t chunk = 0;  ///< items per piece with a dynamic schedule; 0: the device chooses
  Schedule schedule = Schedule::fixed;
  std::uint8_t phases = 1;          ///< each phase runs over all items after the one before was joined
  bool heavy = false;               ///< may wait for the host: never runs on the launching or on a fencing thread
  std::uint32_t share_scratch = 0;  ///< bytes of scratch for each share; the queue owns them, uninitialised
  void* result = nullptr;           ///< device or host address that host_join's result is delivered to
  std::uint32_t result_bytes = 0;
  const char* label = nullptr;  ///< for messages; null: KernelInfo::type. Must outlive the call only
};

}  // namespace gantry
