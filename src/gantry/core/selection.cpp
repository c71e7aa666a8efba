// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/core/selection.hpp>

#include <gantry/base/printable.hpp>
#include <gantry/base/settings.hpp>
#include <gantry/base/try.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <utility>

namespace gantry {
namespace {

constexpr std::string_view host_name = "host";
constexpr std::string_view forms =
    "entries are separated by commas; each is a device name (host, host:1, cuda:0), a number (index of the devices "
    "that "
    "exist), a UUID (GPU-...), a PCI address (0000:3b:00.0) or a MIG name (MIG-...)";

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

template <class Number>
bool parse_number(std::string_view text, Number& number, int base = 10) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, base);
  return !text.empty() && error == std::errc{} && stop == end;
}

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

bool is_backend_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::islower(c) != 0; });
}

struct PciAddress {
  unsigned domain = 0, bus = 0, device = 0, function = 0;
  bool operator==(const PciAddress&) const = default;
};

/// "[domain:]bus:device[.function]" in hexadecimal, however many digits a driver writes.
std::optional<PciAddress> parse_pci(std::string_view text) {
  PciAddress pci;
  if (const auto dot = text.find('.'); dot != std::string_view::npos) {
    if (!parse_number(text.substr(dot + 1), pci.function, 16) || pci.function > 7) return {};
    text = text.substr(0, dot);
  }
  const auto last = text.rfind(':');
  if (last == std::string_view::npos || !parse_number(text.substr(last + 1), pci.device, 16)) return {};
  text = text.substr(0, last);
  if (const auto colon = text.find(':'); colon != std::string_view::npos) {
    if (!parse_number(text.substr(0, colon), pci.domain, 16)) return {};
    text = text.substr(colon + 1);
  }
  if (!parse_number(text, pci.bus, 16) || pci.bus > 0xff || pci.device > 0x1f) return {};
  return pci;
}

Status devices_error(std::string_view value, std::string_view what) {
  return Status::error(Code::invalid_argument, fmt::format("GANTRY_DEVICES={}: {}", in_quotes(value), what));
}

Result<DeviceToken> parse_token(std::string_view value, std::string_view text) {
  DeviceToken token{.text = std::string(text), .backend = {}};
  const auto colon = text.find(':');
  if (text.empty()) {
    return devices_error(
        value, value.empty() ? fmt::format("it is empty; {}", forms) : fmt::format("an entry is empty; {}", forms));
  }
  if (all_digits(text)) {
    token.kind = DeviceToken::Kind::number;
    if (!parse_number(text, token.number)) token.number = INT_MAX;  // found to be out of range later
    return token;
  }
  if (text.starts_with("MIG-") && text.size() > 4) {
    token.kind = DeviceToken::Kind::mig;
    return token;
  }
  if (text.starts_with("GPU-") && text.size() > 4 &&
      std::all_of(text.begin() + 4, text.end(), [](unsigned char c) { return std::isxdigit(c) != 0 || c == '-'; })) {
    token.kind = DeviceToken::Kind::uuid;
    return token;
  }
  if (colon != std::string_view::npos && is_backend_name(text.substr(0, colon)) && all_digits(text.substr(colon + 1)) &&
      !parse_pci(text)) {
    token.kind = DeviceToken::Kind::name;
    token.backend = text.substr(0, colon);
    if (!parse_number(text.substr(colon + 1), token.number)) token.number = INT_MAX;
    return token;
  }
  if (parse_pci(text)) {
    token.kind = DeviceToken::Kind::pci;
    return token;
  }
  if (is_backend_name(text)) {
    token.kind = DeviceToken::Kind::backend;
    token.backend = text;
    return token;
  }
  return devices_error(value, fmt::format("{} is no device; {}", in_quotes(text), forms));
}

using Devices = std::vector<DeviceInfo>;

std::string listed(const Devices& existing) {
  if (existing.empty()) return "no device exists";
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < existing.size(); ++i) parts.push_back(fmt::format("{} = {}", i, existing[i].name));
  return fmt::format("the devices that exist are {}", fmt::join(parts, ", "));
}

/// Indexes into `existing` of the devices that an entry names; none when it names nothing that exists.
std::vector<std::size_t> matches(const DeviceToken& token, const Devices& existing) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < existing.size(); ++i) {
    const DeviceInfo& info = existing[i];
    bool match = false;
    switch (token.kind) {
      case DeviceToken::Kind::backend: match = info.backend == token.backend; break;
      case DeviceToken::Kind::name: match = info.backend == token.backend && info.ordinal == token.number; break;
      case DeviceToken::Kind::number: match = i == static_cast<std::size_t>(token.number); break;
      case DeviceToken::Kind::pci: match = !info.pci.empty() && parse_pci(info.pci) == parse_pci(token.text); break;
      case DeviceToken::Kind::uuid:
      case DeviceToken::Kind::mig: match = !info.uuid.empty() && info.uuid.starts_with(token.text); break;
    }
    if (match) found.push_back(i);
  }
  return found;
}

const BackendReport* find_backend(const SelectionInput& input, std::string_view name) {
  const auto found = std::find_if(input.backends.begin(), input.backends.end(),
                                  [&](const BackendReport& report) { return report.name == name; });
  return found == input.backends.end() ? nullptr : &*found;
}

/// Why an entry that parses names nothing.
std::string why_absent(const DeviceToken& token, const SelectionInput& input) {
  const BackendReport* backend = find_backend(input, token.backend);
  if (token.kind == DeviceToken::Kind::number) return "is out of range";
  if (token.backend.empty()) return "names no device of this machine";
  if (backend == nullptr) {
    std::vector<std::string_view> names;
    for (const BackendReport& report : input.backends) names.push_back(report.name);
    return fmt::format("names no backend of this Gantry (it has {})", fmt::join(names, ", "));
  }
  if (!backend->availability.available) return fmt::format("is not available: {}", backend->availability.reason);
  return "is out of range";
}

Result<std::vector<std::size_t>> accepted(const SelectionInput& input, const Devices& existing) {
  std::vector<std::size_t> order;
  if (!input.devices) {
    for (std::size_t i = 0; i < existing.size(); ++i) order.push_back(i);
    return order;
  }
  const auto& [text, tokens] = *input.devices;
  // A word that means nothing comes before a number that is too large: it is the likelier mistake.
  for (const DeviceToken& token : tokens) {
    if (token.backend.empty() || find_backend(input, token.backend) != nullptr) continue;
    return devices_error(text,
                         fmt::format("{} {}; {}", in_quotes(token.text), why_absent(token, input), listed(existing)));
  }
  for (const DeviceToken& token : tokens) {
    const std::vector<std::size_t> found = matches(token, existing);
    if (found.empty()) {
      return devices_error(text,
                           fmt::format("{} {}; {}", in_quotes(token.text), why_absent(token, input), listed(existing)));
    }
    if (found.size() > 1 && token.kind == DeviceToken::Kind::uuid) {
      return devices_error(
          text, fmt::format("{} fits {} devices; {}", in_quotes(token.text), found.size(), listed(existing)));
    }
    for (const std::size_t index : found) {
      if (std::find(order.begin(), order.end(), index) != order.end()) {
        return devices_error(text, fmt::format("{} repeats device {}; {}", in_quotes(token.text), existing[index].name,
                                               listed(existing)));
      }
      order.push_back(index);
    }
  }
  return order;
}

/// The default among usable devices, and why ("because" and what follows).
Result<std::pair<int, std::string>> choose(const SelectionInput& input, const std::vector<const DeviceInfo*>& usable) {
  const int count = static_cast<int>(usable.size());
  if (input.request.device_id) {
    const int id = *input.request.device_id;
    if (id >= 0 && id < count) return std::pair(id, fmt::format("{}={}", input.request.device_id_name, id));
    std::vector<std::string> parts;
    parts.reserve(usable.size());
    for (int i = 0; i < count; ++i) parts.push_back(fmt::format("{} = {}", i, usable[i]->name));
    return Status::error(Code::invalid_argument, fmt::format("{}={} is out of range; the usable devices are {}",
                                                             input.request.device_id_name, id, fmt::join(parts, ", ")));
  }
  // Without a list the devices of the preferred backend share the processes; the others wait to be named.
  int pool = count;
  if (!input.devices) {
    pool = static_cast<int>(std::count_if(usable.begin(), usable.end(), [&](const DeviceInfo* info) {
      return info->backend == usable.front()->backend;
    }));
  }
  if (pool > 1 && input.request.map_by == DeviceRequest::MapBy::random) {
    return std::pair(static_cast<int>(input.random % static_cast<std::uint32_t>(pool)),
                     fmt::format("of a random choice among {} devices", pool));
  }
  if (pool > 1 && input.local_rank) {
    int rank = 0;
    if (const auto& [variable, text] = *input.local_rank; !parse_number(text, rank) || rank < 0) {
      return invalid_setting(variable, text, "a local rank is a number from 0");
    }
    return std::pair(rank % pool, fmt::format("local rank {} % {} devices", rank, pool));
  }
  if (pool > 1) return std::pair(0, fmt::format("it is the first of {} devices", pool));
  if (!input.devices && usable.front()->backend == host_name) return std::pair(0, std::string("no GPU is a candidate"));
  return std::pair(0, std::string("it is the only one"));
}

Status no_gpu(const SelectionInput& input, const std::string& chosen) {
  std::string why;
  for (const BackendReport& report : input.backends) {
    if (report.name == host_name) continue;
    if (!why.empty()) why += "; ";
    why += fmt::format("{}: {}", report.name,
                       !report.availability.available ? report.availability.reason
                       : report.devices.empty()       ? "it has no device"
                                                      : "its devices were not chosen");
  }
  if (why.empty()) why = "this Gantry was built without a GPU backend";
  return Status::error(Code::unavailable,
                       fmt::format("GANTRY_REQUIRE=gpu, but the device would be {} ({})", chosen, why));
}

}  // namespace

bool DeviceToken::asks_for(std::string_view backend_name) const noexcept {
  if (!backend.empty()) return backend == backend_name;
  return kind != Kind::number && backend_name != host_name;
}

int Selection::usable() const noexcept {
  return static_cast<int>(
      std::count_if(devices.begin(), devices.end(), [](const Device& d) { return d.id.has_value(); }));
}

Result<DeviceNames> parse_devices(std::string_view text) {
  DeviceNames names{std::string(text), {}};
  for (std::string_view rest = text;;) {
    const auto comma = rest.find(',');
    GANTRY_TRY_ASSIGN(DeviceToken token, parse_token(text, trimmed(rest.substr(0, comma))));
    names.tokens.push_back(std::move(token));
    if (comma == std::string_view::npos) return names;
    rest = rest.substr(comma + 1);
  }
}

Result<Selection> select_devices(SelectionInput input) {
  Devices existing;
  for (const BackendReport& report : input.backends) {
    existing.insert(existing.end(), report.devices.begin(), report.devices.end());
  }
  GANTRY_TRY_ASSIGN(const std::vector<std::size_t> order, accepted(input, existing));
  if (order.empty()) return Status::error(Code::unavailable, "no device exists on this machine");

  Selection selection;
  std::vector<const DeviceInfo*> usable;
  usable.reserve(order.size());
  for (const std::size_t index : order) usable.push_back(&existing[index]);
  GANTRY_TRY_ASSIGN(const auto choice, choose(input, usable));
  const auto& [id, because] = choice;
  const std::string& name = usable[static_cast<std::size_t>(id)]->name;
  const std::string setting =
      input.devices ? "GANTRY_DEVICES=" + printable(input.devices->text) : "GANTRY_DEVICES unset";
  selection.choice = {id, fmt::format("{} because {}, {}", name, because, setting)};
  if (input.require_gpu && usable[static_cast<std::size_t>(id)]->backend == host_name) {
    return no_gpu(input, selection.choice.reason);
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool chosen = static_cast<int>(i) == id;
    selection.devices.push_back({*usable[i], static_cast<DeviceId>(i),
                                 chosen ? "default: " + selection.choice.reason : "usable; the default is " + name});
  }
  for (std::size_t i = 0; i < existing.size(); ++i) {
    if (std::find(order.begin(), order.end(), i) != order.end()) continue;
    selection.devices.push_back({existing[i], {}, "left out by " + setting});
  }
  selection.backends = std::move(input.backends);
  return selection;
}

std::optional<LocalRank> local_rank_from_environment() {
  static constexpr std::array<const char*, 7> variables{
      "OMPI_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID", "PMI_LOCAL_RANK",
      "PALS_LOCAL_RANKID",          "FLUX_TASK_LOCAL_ID"};
  for (const char* variable : variables) {
    if (const char* value = std::getenv(variable); value != nullptr && *value != '\0')
      return LocalRank{variable, value};
  }
  return {};
}

}  // namespace gantry
