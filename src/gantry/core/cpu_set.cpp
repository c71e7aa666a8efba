// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/core/cpu_set.hpp>

#include <fmt/format.h>

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <memory>

namespace gantry {
namespace {

constexpr int highest_cpu = 65535;  // bounds what a text such as "0-2000000000" can make us allocate

struct MaskDeleter {
  void operator()(cpu_set_t* mask) const noexcept { CPU_FREE(mask); }
};
using Mask = std::unique_ptr<cpu_set_t, MaskDeleter>;

bool parse_cpu(std::string_view& text, int& cpu) {
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), cpu);
  if (error != std::errc{} || cpu < 0 || cpu > highest_cpu) return false;
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  return true;
}

}  // namespace

CpuSet::CpuSet(std::vector<int> cpus) : m_cpus(std::move(cpus)) {
  std::ranges::sort(m_cpus);
  m_cpus.erase(std::unique(m_cpus.begin(), m_cpus.end()), m_cpus.end());
}

Result<CpuSet> CpuSet::parse(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  if (text.empty() || text == "none") return CpuSet();
  std::vector<int> cpus;
  for (std::string_view rest = text;;) {
    const auto end = rest.find(',');
    const std::string_view item = rest.substr(0, end);
    std::string_view unread = item;
    int first = 0;
    int last = 0;
    bool valid = parse_cpu(unread, first);
    if (valid && unread.starts_with('-')) {
      unread.remove_prefix(1);
      valid = parse_cpu(unread, last);
    } else {
      last = first;
    }
    // Lists repeat CPUs at most by mistake; without this limit a long text of wide ranges would fill the memory.
    if (!valid || !unread.empty() || last < first || cpus.size() > static_cast<std::size_t>(highest_cpu)) {
      return Status::error(
          Code::invalid_argument,
          fmt::format("CPU list '{}': '{}' is not valid; valid are numbers from 0 to {} and ranges, as "
                      "in '0-3,8'",
                      text, item, highest_cpu));
    }
    for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  return CpuSet(std::move(cpus));
}

CpuSet CpuSet::of_calling_thread() {
  // The kernel refuses masks that are shorter than its own, whose length it does not tell.
  for (int count = 1024; count <= highest_cpu + 1; count *= 2) {
    const Mask mask(CPU_ALLOC(static_cast<std::size_t>(count)));
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(count));
    if (::sched_getaffinity(0, bytes, mask.get()) != 0) {
      if (errno == EINVAL) continue;
      break;
    }
    CpuSet set;
    for (int cpu = 0; cpu < count; ++cpu) {
      if (CPU_ISSET_S(static_cast<std::size_t>(cpu), bytes, mask.get())) set.m_cpus.push_back(cpu);
    }
    return set;
  }
  return {};
}

bool CpuSet::contains(int cpu) const noexcept {
  return std::ranges::binary_search(m_cpus, cpu);
}

CpuSet CpuSet::intersected(const CpuSet& other) const {
  CpuSet both;
  std::ranges::set_intersection(m_cpus, other.m_cpus, std::back_inserter(both.m_cpus));
  return both;
}

std::string CpuSet::to_string() const {
  if (empty()) return "none";
  std::string text;
  for (std::size_t i = 0; i < m_cpus.size();) {
    std::size_t last = i;
    while (last + 1 < m_cpus.size() && m_cpus[last + 1] == m_cpus[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += last == i ? fmt::format("{}", m_cpus[i]) : fmt::format("{}-{}", m_cpus[i], m_cpus[last]);
    i = last + 1;
  }
  return text;
}

Status CpuSet::bind_calling_thread() const {
  if (empty()) return Status::error(Code::invalid_argument, "cannot bind a thread to no CPU");
  if (m_cpus.front() < 0 || m_cpus.back() > highest_cpu) {
    return Status::error(Code::invalid_argument,
                         fmt::format("cannot bind a thread to cpus {}: valid are 0 to {}", to_string(), highest_cpu));
  }
  const auto count = static_cast<std::size_t>(m_cpus.back()) + 1;
  cpu_set_t small;  // the first allocation of a thread makes the C library map an arena for it
  const Mask large(count > CPU_SETSIZE ? CPU_ALLOC(count) : nullptr);
  cpu_set_t* const mask = large ? large.get() : &small;
  const std::size_t bytes = large ? CPU_ALLOC_SIZE(count) : sizeof(small);
  CPU_ZERO_S(bytes, mask);
  for (const int cpu : m_cpus) CPU_SET_S(static_cast<std::size_t>(cpu), bytes, mask);
  if (::sched_setaffinity(0, bytes, mask) == 0) return {};
  const int error = errno;
  return Status::error(Code::driver_error,
                       fmt::format("cannot bind a thread to cpus {}: {}", to_string(), std::strerror(error)), error);
}

}  // namespace gantry
