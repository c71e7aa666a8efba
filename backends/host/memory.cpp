// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <backends/host/memory.hpp>
#include <backends/host/protection.hpp>
#include <gantry/base/try.hpp>

#include <fmt/format.h>

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

namespace gantry::host {
namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t huge_from = std::size_t{4} << 20;
/// Smaller requests skip the look at what is free, which takes longer than they do; the system refuses them itself.
constexpr std::size_t checked_from = std::size_t{4} << 20;
constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

/// The number in a one-line file; `unlimited` when there is none ("max").
std::uint64_t number_in(const std::string& path) {
  std::ifstream file(path);
  std::string text;
  std::uint64_t number = unlimited;
  if (file >> text) std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

void limit(MemoryInfo& info, std::uint64_t total, std::uint64_t used) {
  info.total_bytes = std::min(info.total_bytes, total);
  info.free_bytes = std::min(info.free_bytes, total - std::min(total, used));
}

void limit_by_machine(MemoryInfo& info) {
  std::ifstream file("/proc/meminfo");
  std::string name;
  std::uint64_t kib = 0;
  std::uint64_t total = 0;
  std::uint64_t available = 0;
  for (std::string unit; file >> name >> kib; std::getline(file, unit)) {
    if (name == "MemTotal:") total = kib << 10;
    if (name == "MemAvailable:") available = kib << 10;
    if (total != 0 && available != 0) break;
  }
  if (total != 0) limit(info, total, total - std::min(total, available));
}

/// The process's control group and those above it, of version 2 ("0::/path") or 1 ("5:memory:/path").
void limit_by_control_group(MemoryInfo& info) {
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const auto second = line.find(':', line.find(':') + 1);
    if (second == line.npos) continue;
    const std::string controllers = line.substr(line.find(':') + 1, second - line.find(':') - 1);
    const bool version2 = controllers.empty();
    if (!version2 && controllers.find("memory") == controllers.npos) continue;
    const std::string root = version2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    for (std::string group = line.substr(second + 1);; group.erase(group.rfind('/'))) {
      const std::string folder = root + group;
      limit(info, number_in(folder + (version2 ? "/memory.max" : "/memory.limit_in_bytes")), [&] {
        const std::uint64_t used = number_in(folder + (version2 ? "/memory.current" : "/memory.usage_in_bytes"));
        return used == unlimited ? 0 : used;
      }());
      if (group.find('/') == group.npos) break;
    }
  }
}

void limit_by_address_space(MemoryInfo& info) {
  rlimit space{};
  if (getrlimit(RLIMIT_AS, &space) != 0 || space.rlim_cur == RLIM_INFINITY) return;
  const std::uint64_t pages = number_in("/proc/self/statm");
  limit(info, space.rlim_cur, pages == unlimited ? 0 : pages * page);
}

std::size_t mapped_bytes(std::size_t bytes) noexcept {
  return (std::max<std::size_t>(bytes, 1) + page - 1) & ~(page - 1);
}

/// A mapping that starts at a huge page where huge pages can help. MAP_FAILED: errno says why.
void* map(std::size_t bytes, bool huge) noexcept {
  constexpr int rights = PROT_READ | PROT_WRITE;
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  if (!huge) return mmap(nullptr, bytes, rights, flags, -1, 0);
  void* memory = mmap(nullptr, bytes + huge_page, rights, flags, -1, 0);
  if (memory == MAP_FAILED) return memory;
  auto* begin = static_cast<char*>(memory);
  const std::size_t lead = (huge_page - reinterpret_cast<std::uintptr_t>(begin) % huge_page) % huge_page;
  if (lead != 0) munmap(begin, lead);
  if (lead != huge_page) munmap(begin + lead + bytes, huge_page - lead);
  madvise(begin + lead, bytes, MADV_HUGEPAGE);
  return begin + lead;
}

}  // namespace

MemoryInfo process_memory() noexcept {
  MemoryInfo info{unlimited, unlimited};
  try {
    limit_by_machine(info);
    limit_by_control_group(info);
    limit_by_address_space(info);
  } catch (const std::exception&) {
    // Out of memory while asking how much there is.
    info.free_bytes = 0;
  }
  return info;
}

MemoryInfo Memory::info() const noexcept {
  MemoryInfo info = process_memory();
  info.total_bytes /= static_cast<std::uint64_t>(m_devices);
  const std::uint64_t used = m_used.load(std::memory_order_relaxed);
  info.free_bytes = std::min(info.free_bytes, info.total_bytes - std::min(info.total_bytes, used));
  return info;
}

Result<void*> Memory::allocate(MemoryKind kind, std::size_t bytes) {
  const bool is_protected = m_protection != nullptr && kind == MemoryKind::device;
  const bool by_pages = is_protected && m_protection->by_pages();
  int error = ENOMEM;
  if (bytes < checked_from || bytes <= info().free_bytes) {
    const std::size_t mapped = mapped_bytes(bytes);
    void* memory = map(mapped, bytes >= huge_from && !by_pages);
    error = errno;
    if (memory != MAP_FAILED) {
      if (is_protected) {
        if (Status status = m_protection->add(memory, mapped); !status.ok()) {
          munmap(memory, mapped);
          return status;
        }
      }
      m_used.fetch_add(mapped, std::memory_order_relaxed);
      return memory;
    }
  }
  const MemoryInfo now = info();
  return Status::error(Code::out_of_memory,
                       fmt::format("{} has no room for {} bytes of {} memory: {} bytes free of {}", m_device_name,
                                   bytes, memory_kind_name(kind), now.free_bytes, now.total_bytes),
                       error);
}

Status Memory::free(MemoryKind kind, void* memory, std::size_t bytes) {
  const std::size_t mapped = mapped_bytes(bytes);
  if (m_protection != nullptr && kind == MemoryKind::device) {
    GANTRY_TRY(m_protection->give_back(memory, mapped));
  } else if (munmap(memory, mapped) != 0) {
    const int error = errno;
    return Status::error(Code::driver_error,
                         fmt::format("giving back {} bytes of {}: {}", bytes, m_device_name, std::strerror(error)),
                         error);
  }
  m_used.fetch_sub(mapped, std::memory_order_relaxed);
  return {};
}

}  // namespace gantry::host
