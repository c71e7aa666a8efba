// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/status.hpp>
#include <gantry/core/handle.hpp>
#include <gantry/rpc/line_prefix.hpp>

#include <cstdio>
#include <mutex>
#include <string>
#include <string_view>

namespace gantry::rpc {

/// A stream that the text of devices goes to: a standard one or a file, whatever devices write to it and by whatever
/// name. It lives as long as the process. Thread safety: all functions, any thread.
class PrintStream {
 public:
  static PrintStream& standard_output();
  static PrintStream& standard_error();
  /// A file is made empty by the first write of the process, and only then. An error when it cannot be opened, as a
  /// FIFO that nobody reads.
  static Result<PrintStream*> open(const std::string& path);

  PrintStream(std::FILE* file, bool make_empty) noexcept : m_file(file), m_make_empty(make_empty) {}

  /// Writes the text, made what LinePrefix says, so that it is visible when this returns.
  Status write(DeviceId device, std::string_view prefix, std::string& text);

 private:
  std::mutex m_mutex;  // guards all below
  std::FILE* m_file;
  bool m_make_empty;
  LinePrefix m_prefix;
};

}  // namespace gantry::rpc
