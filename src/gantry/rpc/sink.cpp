// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/base/leaky.hpp>
#include <gantry/base/log.hpp>
#include <gantry/base/settings.hpp>
#include <gantry/base/try.hpp>
#include <gantry/rpc/print_stream.hpp>
#include <gantry/rpc/sink.hpp>

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <map>
#include <mutex>
#include <utility>

namespace gantry::rpc {
namespace {

/// An output that can be written to.
struct Target {
  PrintStream* stream = nullptr;  // or else a callback
  Output::Callback callback = nullptr;
  void* user = nullptr;
  bool prefix = false;
};

struct Outputs {
  std::mutex mutex;  // guards all below
  std::map<DeviceId, Target> chosen;
  PrintStream* file_of_settings = nullptr;  // the path is what it was when it was first opened
};

Outputs& outputs() {
  static Leaky<Outputs> all;
  return *all;
}

Result<Target> target_of(const Output& output) {
  Target target;
  target.prefix = output.prefix;
  switch (output.kind) {
    case Output::Kind::standard_output: target.stream = &PrintStream::standard_output(); break;
    case Output::Kind::standard_error: target.stream = &PrintStream::standard_error(); break;
    case Output::Kind::file: {
      GANTRY_TRY_ASSIGN(target.stream, PrintStream::open(output.path));
      break;
    }
    case Output::Kind::callback:
      if (output.callback == nullptr) return Status::error(Code::invalid_argument, "the callback to print to is null");
      target.callback = output.callback;
      target.user = output.user;
      break;
  }
  return target;
}

Result<Target> target_of_settings(Outputs& all) {
  Target target;
  target.stream = &PrintStream::standard_output();
  const Settings* said = settings();
  if (said == nullptr) return target;
  target.prefix = said->print_prefix;
  if (said->print_to == PrintTo::standard_error) target.stream = &PrintStream::standard_error();
  if (said->print_to == PrintTo::file) {
    if (all.file_of_settings == nullptr) {
      GANTRY_TRY_ASSIGN(all.file_of_settings, PrintStream::open(said->print_file));
    }
    target.stream = all.file_of_settings;
  }
  return target;
}

Result<Target> target_of(DeviceId device) {
  Outputs& all = outputs();
  const std::lock_guard lock(all.mutex);
  if (const auto found = all.chosen.find(device); found != all.chosen.end()) return found->second;
  return target_of_settings(all);
}

}  // namespace

Status set_output(DeviceId device, Output output) {
  if (device < 0) return Status::error(Code::invalid_argument, fmt::format("there is no device {}", device));
  GANTRY_TRY_ASSIGN(const Target target, target_of(output));
  Outputs& all = outputs();
  const std::lock_guard lock(all.mutex);
  all.chosen[device] = target;
  return {};
}

Status Sink::check() const {
  return target_of(m_device).status();
}

void Sink::write_text() noexcept {
  try {
    if (Status status = write(); !status.ok()) write_to_standard_error(status.text());
  } catch (const std::exception& error) {
    write_to_standard_error(error.what());
  } catch (...) {  // a callback's
    write_to_standard_error("the callback threw something that is no std::exception");
  }
  m_text.clear();
}

Status Sink::write() {
  GANTRY_TRY_ASSIGN(const Target target, target_of(m_device));
  const std::string prefix = target.prefix ? '[' + m_name + "] " : "";
  if (target.stream != nullptr) return target.stream->write(m_device, prefix, m_text);
  m_prefix.apply(m_device, prefix, m_text);
  target.callback(m_device, m_text, target.user);
  return {};
}

/// What could not be written where it should go.
void Sink::write_to_standard_error(std::string_view why) noexcept {
  std::fwrite(m_text.data(), 1, m_text.size(), stderr);
  if (std::exchange(m_failed, true)) return;
  try {
    log(LogLevel::error, fmt::format("{}: printing, now to standard error: {}", m_name, why));
  } catch (const std::exception&) {
    log(LogLevel::error, "a device prints to standard error now, and there is no memory to say why");
  }
}

}  // namespace gantry::rpc
