// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <backends/host/fault_message.hpp>
#include <gantry/core/live_objects.hpp>

#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <mutex>

namespace gantry::host {
namespace {

/// One protected range. The handler reads entries without a lock: `end` is 0 while an entry is free or half written.
struct Entry {
  std::atomic<std::uintptr_t> begin{0};
  std::atomic<std::uintptr_t> end{0};
  char device[24] = {};
};
constexpr std::size_t capacity = 4096;
constinit Entry g_entries[capacity];
constinit std::mutex g_mutex;  // guards changes of g_entries, and installing
struct sigaction g_before;

/// A line made without the heap, as a signal handler must.
class Line {
 public:
  Line& operator<<(const char* text) noexcept {
    const std::size_t length = std::min(std::strlen(text), sizeof(m_text) - m_length);
    std::memcpy(m_text + m_length, text, length);
    m_length += length;
    return *this;
  }
  Line& operator<<(std::uint64_t number) noexcept { return digits(number, 10); }
  Line& hex(std::uint64_t number) noexcept { return (*this << "0x").digits(number, 16); }
  void write() const noexcept { [[maybe_unused]] const auto written = ::write(STDERR_FILENO, m_text, m_length); }

 private:
  Line& digits(std::uint64_t number, unsigned base) noexcept {
    char text[24];
    char* first = text + sizeof(text) - 1;
    *first = '\0';
    do *--first = "0123456789abcdef"[number % base];
    while ((number /= base) != 0);
    return *this << first;
  }
  char m_text[512];
  std::size_t m_length = 0;
};

const Entry* find(std::uintptr_t address) noexcept {
  for (const Entry& entry : g_entries) {
    if (address < entry.end.load(std::memory_order_acquire) && address >= entry.begin.load(std::memory_order_relaxed))
      return &entry;
  }
  return nullptr;
}

void explain(std::uintptr_t address, const ucontext_t* context) noexcept {
  LiveObjectView object;
  const auto* pointer = reinterpret_cast<const void*>(address);
  const Entry* entry = find(address);
  const bool is_live = LiveObjects::get().find(pointer, object);
  if (entry == nullptr && !(is_live && object.kind == ObjectKind::device_memory)) return;
  const char* verb = "touched";
#if defined(__x86_64__)
  constexpr greg_t write_access = 2;
  verb = (context->uc_mcontext.gregs[REG_ERR] & write_access) != 0 ? "wrote" : "read";
#endif
  Line line;
  (line << "gantry: error: host code " << verb << " device memory at ").hex(address) << ": ";
  if (is_live) {
    char label[128] = {};
    LiveObjects::get().label(pointer, label, sizeof(label));
    const auto base = reinterpret_cast<std::uintptr_t>(object.address);
    (line << "byte " << address - base << " of '" << label << "' (" << object.bytes << " bytes at ").hex(base) << ")";
  } else {
    const auto base = entry->begin.load(std::memory_order_relaxed);
    (line << "byte " << address - base << " of memory at ").hex(base) << " that no allocation holds";
  }
  line << " on " << (entry != nullptr ? entry->device : object.device_name)
       << "; only kernels and copies may touch it\n";
  line.write();
}

void handle(int signal, siginfo_t* info, void* context) {
  explain(reinterpret_cast<std::uintptr_t>(info->si_addr), static_cast<const ucontext_t*>(context));
  if ((g_before.sa_flags & SA_SIGINFO) != 0) {
    g_before.sa_sigaction(signal, info, context);
  } else if (g_before.sa_handler != SIG_DFL && g_before.sa_handler != SIG_IGN) {
    g_before.sa_handler(signal);
  } else {
    // The access is tried again, faults again, and ends the process as it would have without us.
    ::signal(signal, SIG_DFL);
  }
}

}  // namespace

void FaultMessage::install() {
  const std::lock_guard lock(g_mutex);
  static bool installed = false;
  if (installed) return;
  installed = true;
  LiveObjects::get();  // made here, not in the handler
  struct sigaction action {};
  action.sa_sigaction = &handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, &g_before);
}

void FaultMessage::add(const void* memory, std::size_t bytes, const char* device_name) noexcept {
  const std::lock_guard lock(g_mutex);
  for (Entry& entry : g_entries) {
    if (entry.end.load(std::memory_order_relaxed) != 0) continue;
    const auto begin = reinterpret_cast<std::uintptr_t>(memory);
    std::strncpy(entry.device, device_name, sizeof(entry.device) - 1);
    entry.begin.store(begin, std::memory_order_relaxed);
    entry.end.store(begin + bytes, std::memory_order_release);
    return;
  }
}

void FaultMessage::remove(const void* memory) noexcept {
  const std::lock_guard lock(g_mutex);
  for (Entry& entry : g_entries) {
    if (entry.end.load(std::memory_order_relaxed) == 0 ||
        entry.begin.load(std::memory_order_relaxed) != reinterpret_cast<std::uintptr_t>(memory))
      continue;
    entry.end.store(0, std::memory_order_release);
    return;
  }
}

}  // namespace gantry::host
