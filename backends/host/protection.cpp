// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <backends/host/fault_message.hpp>
#include <backends/host/protection.hpp>
#include <gantry/base/leaky.hpp>
#include <gantry/base/log.hpp>

#include <fmt/format.h>

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <deque>

namespace gantry::host {
namespace {

constinit std::atomic<bool> g_keys_used{false};

}  // namespace

/// The address ranges that were given back last, of all devices.
class Protection::GivenBack {
 public:
  static void add(void* memory, std::size_t bytes) {
    static Leaky<GivenBack> all;
    const std::lock_guard lock(all->m_mutex);
    all->m_ranges.push_back({memory, bytes});
    if (all->m_ranges.size() <= most) return;
    const Range oldest = all->m_ranges.front();
    all->m_ranges.pop_front();
    FaultMessage::remove(oldest.memory);
    munmap(oldest.memory, oldest.bytes);
  }

 private:
  static constexpr std::size_t most = 512;
  struct Range {
    void* memory;
    std::size_t bytes;
  };
  std::mutex m_mutex;  // guards m_ranges
  std::deque<Range> m_ranges;
};

Result<std::unique_ptr<Protection>> Protection::create(Protect mode, std::string device_name) {
  if (mode == Protect::off) return std::unique_ptr<Protection>();
  int key = -1;
  if (mode == Protect::on) {
    key = pkey_alloc(0, PKEY_DISABLE_ACCESS);
    if (key >= 0) g_keys_used.store(true, std::memory_order_relaxed);
    if (key < 0)
      log(LogLevel::info, fmt::format("{}: no protection key ({}), so its memory is protected by pages", device_name,
                                      std::strerror(errno)));
  }
  return std::unique_ptr<Protection>(new Protection(key, std::move(device_name)));
}

Protection::~Protection() {
  if (m_key >= 0) pkey_free(m_key);
}

Status Protection::add(void* memory, std::size_t bytes) {
  std::unique_lock lock(m_mutex, std::defer_lock);
  int result = 0;
  if (by_pages()) {
    lock.lock();
    if (m_open == 0) result = mprotect(memory, bytes, PROT_NONE);
  } else {
    result = pkey_mprotect(memory, bytes, PROT_READ | PROT_WRITE, m_key);
  }
  if (result != 0) {
    const int error = errno;
    return Status::error(Code::driver_error, fmt::format("protecting {} bytes: {}", bytes, std::strerror(error)),
                         error);
  }
  if (by_pages()) m_ranges.emplace(static_cast<char*>(memory), bytes);
  FaultMessage::add(memory, bytes, m_device_name);
  return {};
}

Status Protection::give_back(void* memory, std::size_t bytes) {
  std::unique_lock lock(m_mutex, std::defer_lock);
  if (by_pages()) lock.lock();
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  if (mmap(memory, bytes, PROT_NONE, flags, -1, 0) == MAP_FAILED) {
    const int error = errno;
    return Status::error(Code::driver_error, fmt::format("giving back {} bytes: {}", bytes, std::strerror(error)),
                         error);
  }
  if (by_pages()) {
    m_ranges.erase(static_cast<char*>(memory));
    lock.unlock();
  }
  GivenBack::add(memory, bytes);
  return {};
}

void Protection::revoke_from_this_thread() const noexcept {
  if (m_key >= 0) pkey_set(m_key, PKEY_DISABLE_ACCESS);
}

void Protection::revoke_all_from_this_thread() noexcept {
  if (!g_keys_used.load(std::memory_order_relaxed)) return;  // the CPU may have none
  constexpr int keys = 16;                                   // of x86; 0 is that of all other memory
  for (int key = 1; key < keys; ++key) pkey_set(key, PKEY_DISABLE_ACCESS);
}

int Protection::open() noexcept {
  if (m_key >= 0) {
    const int before = pkey_get(m_key);
    pkey_set(m_key, 0);
    return before;
  }
  const std::lock_guard lock(m_mutex);
  if (m_open++ == 0) set_pages(PROT_READ | PROT_WRITE);
  return 0;
}

void Protection::close(int rights_before) noexcept {
  if (m_key >= 0) {
    pkey_set(m_key, static_cast<unsigned>(rights_before));
    return;
  }
  const std::lock_guard lock(m_mutex);
  if (--m_open == 0) set_pages(PROT_NONE);
}

void Protection::set_pages(int rights) noexcept {
  for (auto range = m_ranges.begin(); range != m_ranges.end();) {
    char* const begin = range->first;
    char* end = begin;
    for (; range != m_ranges.end() && range->first == end; ++range) end += range->second;  // the system packs them
    mprotect(begin, static_cast<std::size_t>(end - begin), rights);
  }
}

}  // namespace gantry::host
