// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/base/log.hpp>
#include <gantry/base/printable.hpp>
#include <gantry/base/spin_lock.hpp>

#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <mutex>
#include <string>

namespace gantry {
namespace {

// Trivially destructible, all of it: lines are written until the process ends.
constinit std::atomic<LogLevel> g_level{LogLevel::warning};
struct Sink {
  SpinLock lock;  // guards the two below
  LogCallback callback = nullptr;
  void* user = nullptr;
};
constinit Sink g_sink;

void write_to_stderr(std::string_view bytes) noexcept {
  const int before = errno;
  while (!bytes.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  errno = before;
}

}  // namespace

std::string_view log_level_name(LogLevel level) noexcept {
  static constexpr std::array<std::string_view, 4> names{"error", "warning", "info", "debug"};
  const auto index = static_cast<std::size_t>(level);
  return index < names.size() ? names[index] : "unknown";
}

void set_log_level(LogLevel level) noexcept {
  g_level.store(level, std::memory_order_relaxed);
}

bool log_enabled(LogLevel level) noexcept {
  return level <= g_level.load(std::memory_order_relaxed);
}

void set_log_callback(LogCallback callback, void* user) noexcept {
  const std::scoped_lock lock(g_sink.lock);
  g_sink.callback = callback;
  g_sink.user = user;
}

void log(LogLevel level, std::string_view text) noexcept {
  if (!log_enabled(level)) return;
  LogCallback callback = nullptr;
  void* user = nullptr;
  {
    const std::scoped_lock lock(g_sink.lock);
    callback = g_sink.callback;
    user = g_sink.user;
  }
  if (callback != nullptr) return callback(level, text, user);
  try {
    std::string line = "gantry: ";
    line.append(log_level_name(level)).append(": ");
    for (const char c : printable_lines(text.substr(0, text.find_last_not_of('\n') + 1))) {
      line += c;
      if (c == '\n') line += "  ";
    }
    line += '\n';
    write_to_stderr(line);
  } catch (...) {
    write_to_stderr(text);  // no memory for the line: the bare text is better than nothing
  }
}

}  // namespace gantry
