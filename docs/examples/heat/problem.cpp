// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <system_error>

#include <sys/stat.h>
#include <unistd.h>

namespace heat {
namespace {

using nlohmann::json;

constexpr std::size_t largest_input = std::size_t{1} << 20;
constexpr int deepest_input = 8;  // twice what a problem needs

[[noreturn]] void wrong_type(std::string_view key, std::string_view expected, const json& value) {
  std::string found = value.dump();
  constexpr std::size_t longest = 60;
  if (found.size() > longest) found.replace(longest, found.npos, "...");
  throw InputError(fmt::format("{}: expected {}, found {} ({})", key, expected, found, value.type_name()));
}

double read_number(std::string_view key, const json& value) {
  if (!value.is_number()) wrong_type(key, "a number", value);
  return value.get<double>();
}

int read_int(std::string_view key, const json& value) {
  if (!value.is_number_integer()) wrong_type(key, "a whole number", value);
  const auto number = value.get<double>();
  if (std::abs(number) > std::numeric_limits<int>::max())
    throw InputError(fmt::format("{}: {} is out of range", key, value.dump()));
  return value.get<int>();
}

std::string read_string(std::string_view key, const json& value) {
  if (!value.is_string()) wrong_type(key, "a string", value);
  return value.get<std::string>();
}

template <class Read>
auto read_triple(std::string_view key, const json& value, Read read) {
  if (!value.is_array() || value.size() != 3) wrong_type(key, "an array of three numbers", value);
  return std::array{read(key, value[0]), read(key, value[1]), read(key, value[2])};
}

using Readers = std::map<std::string, std::function<void(const std::string& key, const json& value)>>;

/// Gives every member of `object` to the reader of its name.
void read_members(std::string_view what, const json& object, const Readers& readers) {
  if (!object.is_object()) wrong_type(what, "an object", object);
  for (const auto& [key, value] : object.items()) {
    const auto reader = readers.find(key);
    if (reader == readers.end()) {
      std::string known;
      for (const auto& [name, function] : readers) known += (known.empty() ? "" : ", ") + name;
      throw InputError(fmt::format("{}: unknown key '{}'; the keys are {}", what, key, known));
    }
    reader->second(key, value);
  }
}

HotSpot read_hot_spot(const std::string& what, const json& value) {
  HotSpot spot;
  read_members(what, value,
               {{"at", [&](auto& key, auto& v) { spot.at = read_triple(what + "." + key, v, read_number); }},
                {"width", [&](auto& key, auto& v) { spot.width = read_number(what + "." + key, v); }},
                {"temperature", [&](auto& key, auto& v) { spot.temperature = read_number(what + "." + key, v); }}});
  return spot;
}

std::vector<HotSpot> read_hot_spots(const std::string& key, const json& value) {
  if (!value.is_array()) wrong_type(key, "an array of hot spots", value);
  std::vector<HotSpot> spots;
  for (const json& spot : value) spots.push_back(read_hot_spot(fmt::format("{}[{}]", key, spots.size()), spot));
  return spots;
}

/// The whole file, however it is made: there is no end of /dev/zero.
std::string read_file(const std::string& path) {
  if (path.empty()) throw InputError("the name of the input file is empty");
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw InputError(fmt::format("{}: cannot be read: it is a folder", path));
  std::ifstream file(path);
  if (!file) throw InputError(fmt::format("{}: cannot be read: {}", path, std::strerror(errno)));
  std::string text(largest_input + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) throw InputError(fmt::format("{}: cannot be read: {}", path, std::strerror(errno)));
  if (file) throw InputError(fmt::format("{}: larger than {} bytes, the most that is read", path, largest_input));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

json parse(const std::string& path, const std::string& text) {
  return json::parse(text, [&](int depth, json::parse_event_t, const json&) {
    if (depth > deepest_input) throw InputError(fmt::format("{}: nested more than {} deep", path, deepest_input));
    return true;
  });
}

void require(bool condition, std::string_view key, std::string_view rule) {
  if (!condition) throw InputError(fmt::format("{}: {}", key, rule));
}

/// A picture that cannot be written is found out before the run, as far as that can be.
void require_writable(const std::string& output) {
  const bool is_text =
      std::none_of(output.begin(), output.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  require(is_text, "output", "the name holds a control character");
  const auto check = [&](int result) {
    if (result != 0) throw InputError(fmt::format("output: {}: {}", output, std::strerror(errno)));
  };
  struct stat found {};
  if (stat(output.c_str(), &found) == 0) {
    require(!S_ISDIR(found.st_mode), "output", output + " is a folder");
    require(S_ISREG(found.st_mode), "output", output + " is no regular file");
    return check(access(output.c_str(), W_OK));
  }
  check(errno == ENOENT ? 0 : -1);
  const auto folder = std::filesystem::path(output).parent_path();
  check(access(folder.empty() ? "." : folder.c_str(), W_OK));
}

}  // namespace

std::string_view scheme_name(Scheme scheme) {
  return scheme == Scheme::backward_euler ? "backward-euler" : "crank-nicolson";
}

Scheme parse_scheme(std::string_view name) {
  for (const Scheme scheme : {Scheme::backward_euler, Scheme::crank_nicolson})
    if (name == scheme_name(scheme)) return scheme;
  throw InputError(fmt::format("scheme: '{}' is neither backward-euler nor crank-nicolson", name));
}

std::vector<HotSpot> Problem::default_hot_spots() {
  return {{{0.30, 0.50, 0.68}, 0.085, 1.0},
          {{0.66, 0.50, 0.62}, 0.070, 0.9},
          {{0.55, 0.50, 0.28}, 0.110, 0.8},
          {{0.22, 0.50, 0.24}, 0.050, 0.7}};
}

Problem read_problem(const std::string& path) {
  Problem problem;
  try {
    read_members(path, parse(path, read_file(path)),
                 {{"grid", [&](auto& key, auto& value) { problem.grid = read_triple(key, value, read_int); }},
                  {"time", [&](auto& key, auto& value) { problem.time = read_number(key, value); }},
                  {"steps", [&](auto& key, auto& value) { problem.steps = read_int(key, value); }},
                  {"diffusivity", [&](auto& key, auto& value) { problem.diffusivity = read_number(key, value); }},
                  {"scheme", [&](auto& key, auto& value) { problem.scheme = parse_scheme(read_string(key, value)); }},
                  {"tolerance", [&](auto& key, auto& value) { problem.tolerance = read_number(key, value); }},
                  {"devices", [&](auto& key, auto& value) { problem.devices = read_int(key, value); }},
                  {"output", [&](auto& key, auto& value) { problem.output = read_string(key, value); }},
                  {"hot_spots", [&](auto& key, auto& value) { problem.hot_spots = read_hot_spots(key, value); }}});
  } catch (const json::exception& error) {
    throw InputError(fmt::format("{}: not valid JSON: {}", path, error.what()));
  }
  return problem;
}

void Problem::validate() const {
  const auto positive = [](double value) { return std::isfinite(value) && value > 0; };
  for (const int n : grid) require(n >= 3, "grid", fmt::format("{} points along one side; at least 3", n));
  require(positive(time), "time", fmt::format("{} is not a positive number", time));
  require(steps >= 1, "steps", fmt::format("{} is not at least 1", steps));
  require(positive(diffusivity), "diffusivity", fmt::format("{} is not a positive number", diffusivity));
  require(tolerance >= 1e-12 && tolerance <= 1e-2, "tolerance", fmt::format("{} is not from 1e-12 to 1e-2", tolerance));
  require(devices >= 1 && devices <= grid[2], "devices",
          fmt::format("{} is not from 1 to {}, the points along z", devices, grid[2]));

  // One part of the domain is indexed by int, walls and halo included.
  const double planes = std::ceil(double(grid[2]) / devices) + 2;
  const double points_of_part = planes * (double(grid[0]) + 2) * (double(grid[1]) + 2);
  require(points_of_part <= std::numeric_limits<int>::max(), "grid",
          fmt::format("{} x {} x {} points are too many for {} device(s): {:.3g} on one, at most {}", grid[0], grid[1],
                      grid[2], devices, points_of_part, std::numeric_limits<int>::max()));

  if (!output.empty()) require_writable(output);

  require(!hot_spots.empty(), "hot_spots", "none given; at least one");
  for (std::size_t i = 0; i < hot_spots.size(); ++i) {
    const HotSpot& spot = hot_spots[i];
    const std::string key = fmt::format("hot_spots[{}]", i);
    for (const double x : spot.at) require(x > 0 && x < 1, key + ".at", fmt::format("{} is not between 0 and 1", x));
    require(spot.width >= 0.02 && spot.width <= 1, key + ".width", fmt::format("{} is not from 0.02 to 1", spot.width));
    require(positive(spot.temperature), key + ".temperature",
            fmt::format("{} is not a positive number", spot.temperature));
  }
}

}  // namespace heat
