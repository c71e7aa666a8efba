// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/export.hpp>
#include <gantry/base/status.hpp>
#include <gantry/core/handle.hpp>
#include <gantry/rpc/line_prefix.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace gantry::rpc {

/// Where the text goes that code on a device prints.
struct Output {
  enum class Kind : std::uint8_t { standard_output, standard_error, file, callback };
  /// Called with whole prints, one or many at a time, on the backend's server thread; it must not print on its device.
  using Callback = void (*)(DeviceId device, std::string_view text, void* user);

  Kind kind = Kind::standard_output;
  std::string path;  ///< of a file; made empty when the process first prints to it
  Callback callback = nullptr;
  void* user = nullptr;
  bool prefix = false;  ///< each line begins with the device's name in brackets: "[host:1] "
};

/// Changes where one device prints to, from the next batch of text on; for this and all later open periods. Without it
/// GANTRY_PRINT and GANTRY_PRINT_PREFIX say. An error, with nothing changed, when the file cannot be opened. A batch
/// that is being written still goes to where it went: before what a callback uses ends, fence the device, too.
/// Thread safety: any thread.
GANTRY_API Status set_output(DeviceId device, Output output);

/// Collects what one device prints. Thread safety: none, except that outputs may change at any time.
class Sink {
 public:
  Sink(DeviceId device, std::string name) : m_device(device), m_name(std::move(name)) {}

  /// Whether the output that the settings name can be used.
  [[nodiscard]] Status check() const;

  /// The text that waits to be written; print appends to it.
  [[nodiscard]] std::string& text() noexcept { return m_text; }
  /// Writes it, so that it is visible when this returns. What cannot be written goes to standard error, with the
  /// reason.
  void flush() noexcept {
    if (!m_text.empty()) write_text();
  }

 private:
  void write_text() noexcept;
  Status write();
  void write_to_standard_error(std::string_view why) noexcept;

  DeviceId m_device;
  std::string m_name;
  std::string m_text;
  LinePrefix m_prefix;  // of a callback's text
  bool m_failed = false;
};

}  // namespace gantry::rpc
