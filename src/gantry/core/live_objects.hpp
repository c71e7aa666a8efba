// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/export.hpp>
#include <gantry/base/status.hpp>
#include <gantry/core/handle.hpp>
#include <gantry/core/leak_report.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace gantry {

/// The part of a live object that is read without a lock.
struct LiveObjectView {
  ObjectKind kind = ObjectKind::device_memory;
  void* address = nullptr;
  std::size_t bytes = 0;
  DeviceHandle device;
  const char* device_name = "";
  std::uint64_t sequence = 0;
};

/// Everything that the program holds on any device: the source of the leak report, and how an address is recognised.
///
/// Thread safety: all functions may be called by any thread at any time. find and label never touch freed memory and
/// may be called in a signal handler; they and check_access take no lock, the others one short lock.
class GANTRY_API LiveObjects {
 public:
  LiveObjects();
  LiveObjects(const LiveObjects&) = delete;
  LiveObjects& operator=(const LiveObjects&) = delete;
  ~LiveObjects();

  /// The process's own; never destroyed.
  static LiveObjects& get();

  /// Adds an object; the address must not be live already. `device_name` must stay valid as long as the process.
  void insert(ObjectKind kind, const void* address, std::size_t bytes, std::string_view label, DeviceHandle device,
              const char* device_name);

  /// Takes memory of a device (of either kind) out of the list; which kind it was. invalid_argument, with nothing
  /// changed: freed before, never allocated here, not the start of an allocation, memory of another device; the text
  /// says which. Of threads that remove the same memory at the same time exactly one succeeds.
  Result<ObjectKind> remove_memory(DeviceHandle device, const void* address);

  /// Takes a queue, event or image out of the list; false when it is not there (its device was closed by force).
  bool remove(ObjectKind kind, const void* address) noexcept;

  /// The memory that contains an address; false for memory that is not ours. Memory of 0 bytes contains its address.
  bool find(const void* address, LiveObjectView& found) const noexcept;

  enum class HostMemory : std::uint8_t { accepted, refused };
  /// Whether a device may read or write `bytes` bytes from `address` on: they must lie within one allocation, of that
  /// device or pinned. Memory that is not ours is the host's: ok, or an error when the operand must be ours. The error
  /// (invalid_argument) names the allocation.
  [[nodiscard]] Status check_access(DeviceHandle device, const void* address, std::size_t bytes,
                                    HostMemory host_memory) const;

  /// Copies the beginning of the label of the memory that contains an address, ended by a null byte; its length, 0 when
  /// there is none.
  std::size_t label(const void* address, char* buffer, std::size_t buffer_bytes) const noexcept;

  /// Objects of one device, whatever its generation; of all devices.
  [[nodiscard]] std::size_t count(DeviceId device) const;
  [[nodiscard]] std::size_t count() const;

  /// What is live now, in order of creation: on all devices; on one.
  [[nodiscard]] LeakReport snapshot() const;
  [[nodiscard]] LeakReport snapshot(DeviceId device) const;

  /// Takes out everything of one device, and returns it.
  LeakReport remove_all(DeviceId device);

 private:
  struct State;
  std::unique_ptr<State> m_state;
};

}  // namespace gantry
