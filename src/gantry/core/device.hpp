// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/status.hpp>
#include <gantry/core/event.hpp>
#include <gantry/core/image.hpp>
#include <gantry/core/queue.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace gantry {

class DeviceServices;

/// Where memory lies and who can reach it.
enum class MemoryKind : std::uint8_t {
  device,  ///< of one device; host code must not touch it
  pinned,  ///< host memory that the device can reach; host code may touch it
};
[[nodiscard]] GANTRY_API std::string_view memory_kind_name(MemoryKind kind) noexcept;

/// What is known of a device without opening it.
struct DeviceInfo {
  std::string name;     ///< "host", "host:1", "cuda:0": accepted by GANTRY_DEVICES
  std::string backend;  ///< "host", "cuda", "hip"
  int ordinal = 0;      ///< number within its backend
  std::string model;    ///< what the hardware calls itself
  std::string uuid;     ///< empty where there is none
  std::string pci;      ///< "0000:3b:00.0"; empty where there is none
  std::uint64_t memory_bytes = 0;
  int concurrency = 0;  ///< thread slots
  std::string place;    ///< CPUs and NUMA nodes, and why: "cpus 0-1, node 0 (the process's mask)"
};

struct MemoryInfo {
  std::uint64_t total_bytes = 0;
  std::uint64_t free_bytes = 0;  ///< what an allocation could get now, as far as the device knows
};

/// How memory of one kind must be handed out; core/memory_pool obeys.
struct MemoryTraits {
  std::size_t granularity =
      128;  ///< above 128: every allocation is a multiple of this (a power of two), shares it with none
  bool host_addressable = false;  ///< the process can address it
};

/// An OPEN device: made by Backend::open, closed once by core, never reopened (a later open makes a new object).
/// The life around it (state, generation, pools, reports) is core/managed_device. Whatever closes or frees (of queues,
/// events and images too) returns `unavailable` when the driver itself is gone already: core counts that as done.
/// Thread safety: all functions but close() may be called by any thread at any time.
class Device {
 public:
  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  virtual ~Device() = default;

  /// Number of thread slots: how many threads can run kernel code at the same time. Fixed while open.
  [[nodiscard]] virtual int concurrency() const noexcept = 0;
  [[nodiscard]] virtual MemoryInfo memory_info() const noexcept = 0;

  [[nodiscard]] virtual MemoryTraits memory_traits(MemoryKind) const noexcept { return {}; }

  virtual Result<std::unique_ptr<Queue>> create_queue(const QueueOptions& options) = 0;
  virtual Result<std::unique_ptr<Event>> create_event() = 0;
  virtual Result<std::unique_ptr<Image>> load_image(const ImageSource& source) = 0;

  /// Memory straight from the driver, at least 128-byte aligned, contents undefined; core/memory_pool caches it.
  /// out_of_memory (with free and total) when there is none.
  virtual Result<void*> allocate(MemoryKind kind, std::size_t bytes) = 0;
  /// Gives back what allocate returned; `bytes` is what was asked for. No work may still use it.
  virtual Status free(MemoryKind kind, void* memory, std::size_t bytes) = 0;

  /// From now on code on the device may call the host, until close_calls(). `services` outlives the device. A backend
  /// whose devices make no calls has nothing to do.
  virtual Status open_calls(DeviceServices& services) {
    static_cast<void>(services);
    return {};
  }
  /// Waits until what was called before has been done and its output is visible, at most `timeout`. Cheap when nothing
  /// was called.
  virtual void flush_calls(std::chrono::nanoseconds timeout) noexcept { static_cast<void>(timeout); }
  /// No call is answered any more: work that waits for an answer goes on without. False: no work ever called.
  virtual bool abort_calls() noexcept { return false; }
  /// Serves what was called before and lets go of who serves. Called once the device is drained, or given up.
  /// `timeout`: what serves does not return.
  virtual Status close_calls(std::chrono::nanoseconds timeout) {
    static_cast<void>(timeout);
    return {};
  }

  /// Waits until every queue is empty, at most `timeout`. `timeout` error: work still runs, and its device must be
  /// treated as poisoned. The error of work that failed is not this call's: see poison().
  virtual Status drain(std::chrono::nanoseconds timeout) = 0;

  /// The error (kernel_error) that made the device unusable, or ok. Cheap.
  [[nodiscard]] virtual Status poison() const = 0;

  /// Ends the device's threads and context. Called once, when no work runs and no call is inside, after queues, events,
  /// images and memory were given back; runs every step and joins their errors.
  virtual Status close() = 0;
};

}  // namespace gantry
