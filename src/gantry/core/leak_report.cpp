// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/core/leak_report.hpp>

#include <gantry/base/printable.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <map>
#include <tuple>

namespace gantry {
namespace {

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace

std::string_view object_kind_name(ObjectKind kind) noexcept {
  static constexpr std::array<std::string_view, 5> names{"device_memory", "pinned_memory", "queue", "event", "image"};
  const auto index = static_cast<std::size_t>(kind);
  return index < names.size() ? names[index] : "unknown";
}

std::size_t LeakReport::bytes() const noexcept {
  std::size_t sum = 0;
  for (const LiveObject& object : objects) sum += object.bytes;
  return sum;
}

std::string LeakReport::to_text() const {
  if (empty()) return "nothing is held";
  struct Group {
    const LiveObject* first;
    std::size_t count;
  };
  std::vector<Group> groups;  // in order of creation of their first members
  std::map<std::tuple<ObjectKind, std::string_view, std::string_view, std::size_t>, std::size_t> index;
  for (const LiveObject& object : objects) {
    const auto [at, is_new] =
        index.try_emplace({object.kind, object.label, object.device_name, object.bytes}, groups.size());
    if (is_new) groups.push_back({&object, 0});
    ++groups[at->second].count;
  }
  std::string text = fmt::format("{} still held, {}", counted(objects.size(), "object"), counted(bytes(), "byte"));
  for (const auto& [object, count] : groups) {
    text +=
        fmt::format("\n  {}: {}{} '{}'", printable(object->device_name), count > 1 ? fmt::format("{} x ", count) : "",
                    object_kind_name(object->kind), printable(object->label));
    if (object->bytes != 0 || object->kind == ObjectKind::device_memory || object->kind == ObjectKind::pinned_memory) {
      text += fmt::format(", {}{}", counted(object->bytes, "byte"), count > 1 ? " each" : "");
    }
    if (count == 1) text += fmt::format(", at {}", object->address);
  }
  return text;
}

std::string LeakReport::to_json() const {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  for (const LiveObject& object : objects) {
    list.push_back(Json{{"kind", object_kind_name(object.kind)},
                        {"label", object.label},
                        {"bytes", object.bytes},
                        {"device", object.device_name},
                        {"address", fmt::format("{}", object.address)},
                        {"sequence", object.sequence}});
  }
  const Json report{{"objects", std::move(list)}, {"count", objects.size()}, {"bytes", bytes()}};
  return report.dump(2, ' ', false, Json::error_handler_t::replace);  // a label need not be UTF-8
}

}  // namespace gantry
