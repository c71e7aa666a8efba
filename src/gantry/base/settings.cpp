// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/base/leaky.hpp>
#include <gantry/base/printable.hpp>
#include <gantry/base/settings.hpp>

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <utility>

namespace gantry {
namespace {

template <class T>
using Choice = std::pair<std::string_view, T>;

template <class T, std::size_t n>
bool choose(std::string_view text, const Choice<T> (&choices)[n], T& value) {
  for (const auto& [name, choice] : choices) {
    if (name == text) {
      value = choice;
      return true;
    }
  }
  return false;
}

/// A whole number without sign or blanks, within limits; false also when it overflows.
template <class T>
bool number(std::string_view text, T low, T high, T& value) {
  T parsed{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, parsed);
  if (error != std::errc{} || stop != end || parsed < low || parsed > high) return false;
  value = parsed;
  return true;
}

bool boolean(std::string_view text, bool& value) {
  return choose(text, {{"1", true}, {"on", true}, {"true", true}, {"0", false}, {"off", false}, {"false", false}},
                value);
}

bool host_devices(std::string_view text, Settings& settings) {
  if (number(text, 1, 256, settings.host_devices)) {
    settings.host_partition = HostPartition::count;
    return true;
  }
  return choose(text, {{"numa", HostPartition::numa}, {"package", HostPartition::package}}, settings.host_partition);
}

template <class Duration>
bool duration(std::string_view text, std::int64_t high, Duration& value) {
  std::int64_t ticks = 0;
  if (!number(text, std::int64_t{0}, high, ticks)) return false;
  value = Duration(ticks);
  return true;
}

/// A documented variable and how it is read; false: the text is not valid.
struct Row {
  Setting setting;
  bool (*read)(std::string_view text, Settings& settings);
};

// In alphabetical order: the docs table.
constexpr Row rows[] = {
    {{"GANTRY_ASYNC", "default or strict", "default",
      "strict: no kernel ever runs on the thread that launches it or waits for it."},
     [](std::string_view text, Settings& s) {
       return choose(text, {{"default", Async::standard}, {"strict", Async::strict}}, s.async);
     }},
    {{"GANTRY_BIND", "core, device or none", "device",
      "Binds each worker thread of a host device to one core, to the CPUs of its device, or not at all."},
     [](std::string_view text, Settings& s) {
       return choose(text, {{"core", Bind::core}, {"device", Bind::device}, {"none", Bind::none}}, s.bind);
     }},
    {{"GANTRY_CLOSE_TIMEOUT", "seconds from 0 to 86400", "10",
      "How long closing a device waits for its running work before it gives the device up."},
     [](std::string_view text, Settings& s) { return duration(text, 86400, s.close_timeout); }},
    {{"GANTRY_DEVICES", "device names, separated by commas", "",
      "The devices that the process may use, in this order; the first is the default unless a switch or a local rank "
      "says otherwise."},
     [](std::string_view text, Settings& s) {
       s.devices = std::string(text);  // read by whoever knows which devices there are
       return true;
     }},
    {{"GANTRY_HOST_DEVICES", "numa, package or a number from 1 to 256", "1",
      "How many devices the CPUs of the process make: one for each NUMA node, for each package, or so many."},
     host_devices},
    {{"GANTRY_LAUNCH_BLOCKING", "1 or 0", "0", "1: every launch waits for its kernel, for debugging."},
     [](std::string_view text, Settings& s) { return boolean(text, s.launch_blocking); }},
    {{"GANTRY_LEAKS", "report, fail or off", "report",
      "What a close does about what the program still holds: print it, print it and end the process with a non-zero "
      "status, or nothing."},
     [](std::string_view text, Settings& s) {
       return choose(text, {{"report", Leaks::report}, {"fail", Leaks::fail}, {"off", Leaks::off}}, s.leaks);
     }},
    {{"GANTRY_LEAKS_FILE", "a path", "", "Where the leak report is also written, as JSON."},
     [](std::string_view text, Settings& s) {
       s.leaks_file = text;
       return !text.empty();
     }},
    {{"GANTRY_LOG", "error, warning, info or debug", "warning", "What is written to standard error."},
     [](std::string_view text, Settings& s) {
       return choose(text,
                     {{"error", LogLevel::error},
                      {"warning", LogLevel::warning},
                      {"info", LogLevel::info},
                      {"debug", LogLevel::debug}},
                     s.log);
     }},
    {{"GANTRY_NUM_THREADS", "a number from 1 to 65536", "",
      "Worker threads of all host devices together; not set: one for each CPU that the process may use."},
     [](std::string_view text, Settings& s) { return number(text, 1, 65536, s.num_threads); }},
    {{"GANTRY_PRINT", "stdout, stderr or file:<path>", "stdout",
      "Where printf in kernels goes; a file is made empty when the process first prints to it."},
     [](std::string_view text, Settings& s) {
       constexpr std::string_view file = "file:";
       if (text.starts_with(file) && text.size() > file.size()) {
         s.print_to = PrintTo::file;
         s.print_file = text.substr(file.size());
         return true;
       }
       return choose(text, {{"stdout", PrintTo::standard_output}, {"stderr", PrintTo::standard_error}}, s.print_to);
     }},
    {{"GANTRY_PRINT_PREFIX", "1 or 0", "0", "1: each line that a kernel prints begins with its device's name."},
     [](std::string_view text, Settings& s) { return boolean(text, s.print_prefix); }},
    {{"GANTRY_PROTECT", "1, 0 or pages", "0",
      "1: device memory faults when host code touches it outside of kernels and copies, as on a GPU; pages: the same "
      "without protection keys."},
     [](std::string_view text, Settings& s) {
       if (bool on = false; boolean(text, on)) {
         s.protect = on ? Protect::on : Protect::off;
         return true;
       }
       return choose(text, {{"pages", Protect::pages}}, s.protect);
     }},
    {{"GANTRY_REQUIRE", "gpu", "", "gpu: starting without a GPU is an error; not set: the host will do."},
     [](std::string_view text, Settings& s) {
       return choose(text, {{"gpu", Require::gpu}}, s.require);
     }},
    {{"GANTRY_RPC_AFFINITY", "near, none or CPUs, as in 0-3,8", "near",
      "Where the thread that serves kernels' calls of the host runs: near the devices (a host device is everywhere), "
      "anywhere, or on these CPUs."},
     [](std::string_view text, Settings& s) {
       s.rpc_affinity = text;  // read by who places the thread
       return !text.empty();
     }},
    {{"GANTRY_SPIN_US", "microseconds from 0 to 1000000", "50",
      "How long a worker thread without work looks for some before it sleeps."},
     [](std::string_view text, Settings& s) { return duration(text, 1000000, s.spin); }},
};

constexpr auto table = [] {
  std::array<Setting, std::size(rows)> settings;
  for (std::size_t i = 0; i < std::size(rows); ++i) settings[i] = rows[i].setting;
  return settings;
}();

/// Number of single-character edits between two words.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

std::string unknown_variable(std::string_view name) {
  constexpr std::size_t longest = 256;  // the distance is quadratic, and the environment is anybody's
  const std::string_view shown = name.substr(0, longest);
  const Setting& nearest =
      *std::ranges::min_element(table, {}, [&](const Setting& setting) { return edit_distance(shown, setting.name); });
  return fmt::format("unknown environment variable {}; did you mean {}?", printable(shown), nearest.name);
}

const Row* find_row(std::string_view name) {
  const auto* row = std::ranges::find(rows, name, [](const Row& r) { return r.setting.name; });
  return row == std::end(rows) ? nullptr : row;
}

struct ProcessSettings {
  Settings settings;
  Status status;

  ProcessSettings() {
    auto parsed = Settings::from_environment();
    if (parsed.ok()) {
      settings = *std::move(parsed);
      set_log_level(settings.log);
    } else {
      status = std::move(parsed).status();
    }
  }
};

const ProcessSettings& process_settings() {
  static Leaky<ProcessSettings> process;
  return *process;
}

}  // namespace

Result<Settings> Settings::parse(std::span<const char* const> environment, std::vector<std::string>& warnings) {
  Settings settings;
  Status errors;
  for (const std::string_view variable : environment) {
    if (!variable.starts_with("GANTRY_")) continue;
    const auto equals = variable.find('=');
    if (equals == variable.npos) continue;
    const std::string_view name = variable.substr(0, equals);
    const std::string_view text = variable.substr(equals + 1);
    const Row* row = find_row(name);
    if (row == nullptr) {
      warnings.push_back(unknown_variable(name));
    } else if (!row->read(text, settings)) {
      errors.join(invalid_setting(name, text, row->setting.values));
    }
  }
  if (!errors.ok()) return errors;
  return settings;
}

Result<Settings> Settings::from_environment() {
  std::size_t count = 0;
  while (environ != nullptr && environ[count] != nullptr) ++count;
  std::vector<std::string> warnings;
  auto parsed = parse(std::span(environ, count), warnings);
  for (const std::string& warning : warnings) gantry::log(LogLevel::warning, warning);
  return parsed;
}

Status invalid_setting(std::string_view name, std::string_view text, std::string_view values) {
  return Status::error(Code::invalid_argument, fmt::format("{}={} is not valid: {}", name, in_quotes(text), values));
}

Status check_switch(std::string_view name, std::string_view text, std::string_view variable) {
  const Row* row = find_row(variable);
  if (Settings unused; row->read(text, unused)) return {};
  return invalid_setting(name, text, row->setting.values);
}

std::span<const Setting> settings_table() noexcept {
  return table;
}

const Settings* settings() noexcept {
  const ProcessSettings& process = process_settings();
  return process.status.ok() ? &process.settings : nullptr;
}

Status settings_status() {
  return process_settings().status.clone();
}

}  // namespace gantry
