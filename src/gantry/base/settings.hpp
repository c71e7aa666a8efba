// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/export.hpp>
#include <gantry/base/log.hpp>
#include <gantry/base/status.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gantry {

enum class Require : std::uint8_t { anything, gpu };
enum class HostPartition : std::uint8_t { count, numa, package };
enum class Async : std::uint8_t { standard, strict };
enum class Protect : std::uint8_t {
  off,
  on,     ///< device memory faults in host code: protection keys where the CPU has them, else `pages`
  pages,  ///< as on, with mprotect even where there are protection keys
};
enum class Leaks : std::uint8_t { report, fail, off };
enum class Bind : std::uint8_t { core, device, none };
enum class PrintTo : std::uint8_t { standard_output, standard_error, file };

/// What the environment says, every value checked. One member for each row of settings_table().
struct GANTRY_API Settings {
  std::optional<std::string> devices;  ///< GANTRY_DEVICES as written; no value: not set (set but empty is a value)
  Require require = Require::anything;
  HostPartition host_partition = HostPartition::count;
  int host_devices = 1;  ///< with HostPartition::count
  int num_threads = 0;   ///< 0: not set
  Async async = Async::standard;
  bool launch_blocking = false;
  Protect protect = Protect::off;
  Leaks leaks = Leaks::report;
  std::string leaks_file;  ///< empty: no file
  LogLevel log = LogLevel::warning;
  Bind bind = Bind::device;
  PrintTo print_to = PrintTo::standard_output;
  std::string print_file;  ///< with PrintTo::file
  bool print_prefix = false;
  std::string rpc_affinity = "near";
  std::chrono::microseconds spin{50};
  std::chrono::seconds close_timeout{10};

  /// Parses the environment of this moment. One error for each variable that does not parse, all joined: it names the
  /// variable, the offending text and what is valid. GANTRY_ variables that do not exist are logged as warnings.
  static Result<Settings> from_environment();

  /// As from_environment, over "NAME=value" strings; what would be logged is appended to `warnings`.
  static Result<Settings> parse(std::span<const char* const> environment, std::vector<std::string>& warnings);
};

/// One environment variable, as documented.
struct Setting {
  std::string_view name;           ///< "GANTRY_LEAKS"
  std::string_view values;         ///< what is valid: "report, fail or off"
  std::string_view default_value;  ///< as it would be written; empty: not set
  std::string_view meaning;        ///< one sentence
};

/// Every variable that Gantry reads, in alphabetical order; the docs page and `gantry-info --settings` print it.
[[nodiscard]] GANTRY_API std::span<const Setting> settings_table() noexcept;

/// The error for a text that is not valid: names the variable or switch, the text, and what is valid.
[[nodiscard]] GANTRY_API Status invalid_setting(std::string_view name, std::string_view text, std::string_view values);

/// That error when `text`, given by the switch `name`, would not do for the variable, which must be in the table.
[[nodiscard]] GANTRY_API Status check_switch(std::string_view name, std::string_view text, std::string_view variable);

/// The process's settings: parsed at the first call, the same for ever after, readable during exit. Null when the
/// environment does not parse: settings_status() then says why.
[[nodiscard]] GANTRY_API const Settings* settings() noexcept;
[[nodiscard]] GANTRY_API Status settings_status();

}  // namespace gantry
