// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/export.hpp>
#include <gantry/core/handle.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gantry {

/// What a live object is.
enum class ObjectKind : std::uint8_t { device_memory, pinned_memory, queue, event, image };
[[nodiscard]] GANTRY_API std::string_view object_kind_name(ObjectKind kind) noexcept;

/// One thing that the program holds on a device.
struct LiveObject {
  ObjectKind kind = ObjectKind::device_memory;
  const void* address = nullptr;  ///< of the memory, or of the handle's target
  std::size_t bytes = 0;          ///< as asked for; 0 for queues, events and images
  std::string label;
  DeviceHandle device;
  std::string device_name;
  std::uint64_t sequence = 0;  ///< order of creation in the process
};

/// What the program still held at one moment, in order of creation. Empty when nothing was forgotten.
struct GANTRY_API LeakReport {
  std::vector<LiveObject> objects;

  [[nodiscard]] bool empty() const noexcept { return objects.empty(); }
  [[nodiscard]] std::size_t bytes() const noexcept;
  /// For people: one line an object, objects alike (kind, label, device, size) folded into one line with a count.
  [[nodiscard]] std::string to_text() const;
  /// For programs: {"objects":[{"kind","label","bytes","device","address","sequence"}],"count","bytes"}.
  [[nodiscard]] std::string to_json() const;
};

/// Told of leak reports; `user` is what it was set with.
using LeakCallback = void (*)(const LeakReport& report, void* user);

}  // namespace gantry
