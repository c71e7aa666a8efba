// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/base/leaky.hpp>
#include <gantry/base/log.hpp>
#include <gantry/base/printable.hpp>
#include <gantry/base/settings.hpp>
#include <gantry/base/try.hpp>
#include <gantry/rpc/sink.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

namespace gantry::rpc {
namespace {

struct Outputs {
  std::mutex mutex;  // guards all below
  std::map<DeviceId, Output> chosen;
  std::map<std::string, std::FILE*> files;
};

Outputs& outputs() {
  static Leaky<Outputs> all;
  return *all;
}

Output output_of_settings() {
  Output output;
  const Settings* said = settings();
  if (said == nullptr) return output;
  output.prefix = said->print_prefix;
  output.path = said->print_file;
  switch (said->print_to) {
    case PrintTo::standard_output: output.kind = Output::Kind::standard_output; break;
    case PrintTo::standard_error: output.kind = Output::Kind::standard_error; break;
    case PrintTo::file: output.kind = Output::Kind::file; break;
  }
  return output;
}

Output output_of(DeviceId device) {
  Outputs& all = outputs();
  const std::lock_guard lock(all.mutex);
  const auto found = all.chosen.find(device);
  return found != all.chosen.end() ? found->second : output_of_settings();
}

/// Each file is opened once in a process, whatever device prints to it.
Result<std::FILE*> open_file(const std::string& path) {
  Outputs& all = outputs();
  const std::lock_guard lock(all.mutex);
  if (const auto found = all.files.find(path); found != all.files.end()) return found->second;
  std::FILE* file = std::fopen(path.c_str(), "we");
  if (file == nullptr) {
    const int error = errno;
    return Status::error(Code::driver_error,
                         fmt::format("cannot open {} to print to: {}", in_quotes(path), std::strerror(error)), error);
  }
  all.files.emplace(path, file);
  return file;
}

Result<std::FILE*> stream_of(const Output& output) {
  switch (output.kind) {
    case Output::Kind::standard_error: return stderr;
    case Output::Kind::file: return open_file(output.path);
    default: return stdout;
  }
}

Status write_to(std::FILE* file, std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0) return {};
  const int error = errno;
  std::clearerr(file);
  return Status::error(Code::driver_error, std::strerror(error), error);
}

/// Puts `prefix` before each line; `inside_line`: the text goes on with a line that has one.
std::string prefixed(std::string_view text, std::string_view prefix, bool& inside_line) {
  std::string lines;
  for (const char character : text) {
    if (!inside_line) lines += prefix;
    inside_line = character != '\n';
    lines += character;
  }
  return lines;
}

}  // namespace

Status set_output(DeviceId device, Output output) {
  if (output.kind == Output::Kind::callback && output.callback == nullptr)
    return Status::error(Code::invalid_argument, "the callback to print to is null");
  GANTRY_TRY(stream_of(output).status());
  Outputs& all = outputs();
  const std::lock_guard lock(all.mutex);
  all.chosen[device] = std::move(output);
  return {};
}

Status Sink::check() const {
  return stream_of(output_of(m_device)).status();
}

void Sink::write_text() noexcept {
  try {
    write(output_of(m_device));
  } catch (const std::exception& error) {
    std::fwrite(m_text.data(), 1, m_text.size(), stderr);
    log(LogLevel::error, fmt::format("{}: printing: {}", m_name, error.what()));
  } catch (...) {  // a callback's
    log(LogLevel::error, m_name + ": the callback that takes its text threw something that is no std::exception");
  }
  m_text.clear();
}

void Sink::write(const Output& output) {
  if (output.prefix) m_text = prefixed(m_text, '[' + m_name + "] ", m_inside_line);
  if (output.kind == Output::Kind::callback) {
    output.callback(m_device, m_text, output.user);
    return;
  }
  Result<std::FILE*> stream = stream_of(output);
  Status status = stream.ok() ? write_to(*stream, m_text) : stream.status();
  if (status.ok()) return;
  std::fwrite(m_text.data(), 1, m_text.size(), stderr);
  if (!std::exchange(m_failed, true))
    log(LogLevel::error, std::move(status).with_context(m_name + ": printing, now to standard error").message());
}

}  // namespace gantry::rpc
