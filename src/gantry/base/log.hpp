// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/export.hpp>

#include <cstdint>
#include <string_view>

namespace gantry {

enum class LogLevel : std::uint8_t { error, warning, info, debug };
[[nodiscard]] GANTRY_API std::string_view log_level_name(LogLevel level) noexcept;

/// The most talkative level that is written; `warning` until GANTRY_LOG has been read.
GANTRY_API void set_log_level(LogLevel level) noexcept;
[[nodiscard]] GANTRY_API bool log_enabled(LogLevel level) noexcept;

/// Writes "gantry: level: text" to standard error, each call with one write(2), so lines of threads never mix. Lines
/// after the first are indented, other control characters written out. May be called at any time, during exit too.
/// Nothing happens below the level.
GANTRY_API void log(LogLevel level, std::string_view text) noexcept;

/// Takes every line in place of standard error, on the logging thread; null: standard error again. A call of the one
/// before may still be under way on another thread. For tests and tools.
using LogCallback = void (*)(LogLevel level, std::string_view text, void* user);
GANTRY_API void set_log_callback(LogCallback callback, void* user) noexcept;

}  // namespace gantry
