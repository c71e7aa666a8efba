// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/base/printable.hpp>
#include <gantry/base/settings.hpp>
#include <gantry/base/try.hpp>
#include <gantry/core/gantry.hpp>
#include <gantry/core/runtime.hpp>
#include <gantry/device/call.hpp>
#include <gantry/device/launch.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace {

using Json = nlohmann::ordered_json;

enum ExitCode : int { success = 0, failure = 1, usage = 2 };

constexpr const char* description =
    "Lists the devices that Gantry finds, which of them a program would get, and why.\n"
    "Opens no device unless --open or --rpc is given.";
constexpr const char* exit_codes =
    "Exit codes:\n"
    "  0  all is well\n"
    "  1  a setting is not valid, no device can be used, a device failed to open or close, or the output cannot be\n"
    "     written\n"
    "  2  the command line is not valid\n";

struct Row {
  gantry::Selection::Device device;
  gantry::DeviceStatus status;
};

std::string size_text(std::uint64_t bytes) {
  static constexpr std::array<const char*, 5> units{"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < units.size(); ++unit) value /= 1024;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, units[unit]);
}

/// Writes a document, with what went wrong in it.
void print(Json document, const gantry::Status& status) {
  if (!status.ok()) document["error"] = {{"code", gantry::code_name(status.code())}, {"text", status.text()}};
  fmt::print("{}\n", document.dump(2, ' ', false, Json::error_handler_t::replace));
}

/// The exit code; says on stderr what went wrong.
int end(const gantry::Status& status) {
  if (status.ok()) return success;
  std::fprintf(stderr, "gantry-info: %s\n", status.message().c_str());
  return failure;
}

/// There is nothing to list.
int fail(const gantry::Status& status, bool json) {
  if (json) print(Json::object(), status);
  return end(status);
}

int print_settings(bool json) {
  Json list = Json::array();
  for (const gantry::Setting& setting : gantry::settings_table()) {
    const char* value = std::getenv(std::string(setting.name).c_str());
    if (json) {
      list.push_back(Json{{"name", setting.name},
                          {"value", value != nullptr ? Json(value) : Json()},
                          {"default", setting.default_value},
                          {"values", setting.values},
                          {"meaning", setting.meaning}});
      continue;
    }
    const std::string now = value != nullptr                ? fmt::format("'{}'", gantry::printable(value))
                            : setting.default_value.empty() ? std::string("not set")
                                                            : fmt::format("not set ({})", setting.default_value);
    fmt::print("{} = {}\n    {}\n    Values: {}.\n", setting.name, now, setting.meaning, setting.values);
  }
  const gantry::Status status = gantry::settings_status();
  if (json) print(Json{{"settings", list}}, status);
  return end(status);
}

Json to_json(const Row& row) {
  const auto& [device, status] = row;
  const gantry::DeviceInfo& info = device.info;
  return Json{{"id", device.id ? Json(*device.id) : Json()},
              {"name", info.name},
              {"backend", info.backend},
              {"ordinal", info.ordinal},
              {"model", info.model},
              {"uuid", info.uuid},
              {"pci", info.pci},
              {"memory_bytes", info.memory_bytes},
              {"concurrency", info.concurrency},
              {"place", info.place},
              {"usable", device.id.has_value()},
              {"reason", device.reason},
              {"state", gantry::device_state_name(status.state)},
              {"generation", status.generation},
              {"used_bytes", status.used_bytes},
              {"cached_bytes", status.cached_bytes},
              {"peak_bytes", status.peak_bytes}};
}

void print_json(const gantry::Selection& selection, const std::vector<Row>& rows, const gantry::Status& status) {
  Json devices = Json::array();
  for (const Row& row : rows) devices.push_back(to_json(row));
  Json backends = Json::array();
  for (const gantry::BackendReport& backend : selection.backends) {
    backends.push_back(Json{{"name", backend.name},
                            {"candidate", backend.candidate},
                            {"available", backend.availability.available},
                            {"reason", backend.availability.reason},
                            {"devices", backend.devices.size()}});
  }
  print(Json{{"version", GANTRY_VERSION},
             {"default", {{"id", selection.choice.id}, {"reason", selection.choice.reason}}},
             {"devices", devices},
             {"backends", backends}},
        status);
}

void print_text(const gantry::Selection& selection, const std::vector<Row>& rows) {
  fmt::print("Gantry {}\nDefault device: {}\n\nDevices\n", GANTRY_VERSION, selection.choice.reason);
  for (const auto& [device, status] : rows) {
    const gantry::DeviceInfo& info = device.info;
    fmt::print("  {:>3}  {}  ({})\n", device.id ? std::to_string(*device.id) : "-", info.name, info.model);
    fmt::print("       state   {}\n", gantry::device_state_name(status.state));
    fmt::print("       memory  {}", size_text(info.memory_bytes));
    if (status.state == gantry::DeviceState::ready) {
      fmt::print(", {} used, {} cached", size_text(status.used_bytes), size_text(status.cached_bytes));
    }
    fmt::print("\n       slots   {}\n       place   {}\n", info.concurrency, info.place);
    if (!info.pci.empty()) fmt::print("       pci     {}\n", info.pci);
    if (!info.uuid.empty()) fmt::print("       uuid    {}\n", info.uuid);
    fmt::print("       choice  {}\n", device.reason);
  }
  fmt::print("\nBackends\n");
  for (const gantry::BackendReport& backend : selection.backends) {
    fmt::print("  {}: {}, {} {} ({})\n", backend.name, backend.availability.available ? "available" : "not available",
               backend.devices.size(), backend.devices.size() == 1 ? "device" : "devices", backend.availability.reason);
  }
}

int print_devices(bool json, bool open) {
  gantry::Runtime& runtime = gantry::Runtime::get();
  gantry::Result<gantry::Selection> selection = runtime.selection();
  if (!selection.ok()) return fail(selection.status(), json);
  gantry::Status opened;
  if (open) {
    for (int id = 0; id < selection->usable(); ++id) opened.join(runtime.open(id).status());
  }
  gantry::Result<std::vector<gantry::DeviceStatus>> statuses = runtime.devices();
  if (!statuses.ok()) return fail(statuses.status(), json);

  std::vector<Row> rows;
  for (const gantry::Selection::Device& device : selection->devices) {
    rows.push_back({device, device.id ? (*statuses)[static_cast<std::size_t>(*device.id)] : gantry::DeviceStatus()});
  }
  opened.join(runtime.close_all());
  json ? print_json(*selection, rows, opened) : print_text(*selection, rows);
  return end(opened);
}

/// Kernels of every device call the host a thousand times; `failed` has how many did not get an answer.
gantry::Status call_from(gantry::DeviceId id) {
  constexpr std::int64_t calls = 1000;
  std::atomic<int> failed{0};
  GANTRY_TRY_ASSIGN(const gantry::DeviceHandle device, gantry::open_device(id));
  GANTRY_TRY_ASSIGN(const gantry::QueueRef queue, gantry::default_queue(device));
  GANTRY_TRY(gantry::parallel_for(queue, calls, [&failed](std::int64_t i) {
    if (gantry::call_echo(i) != gantry::rpc::Answer::ok) ++failed;
  }));
  GANTRY_TRY(queue.sync());
  if (failed == 0) return {};
  return gantry::Status::error(gantry::Code::internal,
                               fmt::format("device {}: {} of {} calls were not answered", id, failed.load(), calls));
}

int print_calls(bool json) {
  gantry::Result<std::vector<gantry::DeviceStatus>> devices = gantry::devices();
  if (!devices.ok()) return fail(devices.status(), json);
  gantry::Status status;
  for (std::size_t id = 0; id < devices->size(); ++id) status.join(call_from(static_cast<gantry::DeviceId>(id)));
  status.join(gantry::close_all_devices());
  Json backends = Json::array();
  for (const auto& [backend, calls] : gantry::call_statistics()) {
    if (!json) fmt::print("{}: {}\n", backend, to_text(calls));
    backends.push_back(Json{{"backend", backend},
                            {"calls", calls.calls},
                            {"bytes", calls.bytes},
                            {"failed", calls.failed},
                            {"sleeps", calls.sleeps},
                            {"wake_ups", calls.wake_ups},
                            {"hand_overs", calls.hand_overs},
                            {"longest_look_us", calls.longest_look_us}});
  }
  if (json) print(Json{{"calls", backends}}, status);
  return end(status);
}

int no_output(int error) {
  std::fprintf(stderr, "gantry-info: cannot write to standard output: %s\n", std::strerror(error));
  return failure;
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app{description, "gantry-info"};
  app.footer(exit_codes);
  app.set_version_flag("--version", std::string("gantry-info ") + GANTRY_VERSION);
  bool json = false;
  bool settings = false;
  bool open = false;
  app.add_flag("--json", json, "Write JSON");
  app.add_flag("--settings", settings, "List the environment variables that Gantry reads, and their values");
  app.add_flag("--open", open, "Open every device that may be used, look at it, and close it")->excludes("--settings");
  bool rpc = false;
  app.add_flag("--rpc", rpc, "Open every device that may be used and let its kernels call the host; what came of it")
      ->excludes("--settings", "--open");
  int code = success;
  try {
    app.parse(argc, argv);
    code = settings ? print_settings(json) : rpc ? print_calls(json) : print_devices(json, open);
  } catch (const CLI::ParseError& error) {
    std::ostringstream text;
    if (app.exit(error, text, text) != 0) code = usage;
    std::fputs(gantry::printable_lines(text.str()).c_str(), code == success ? stdout : stderr);
  }
  if (std::fflush(stdout) != 0) return no_output(errno);
  return code;
} catch (const std::system_error& error) {  // fmt's: the output has not arrived
  return no_output(error.code().value());
}
