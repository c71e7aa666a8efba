// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <backends/host/engine.hpp>
#include <backends/host/fault_message.hpp>
#include <backends/host/queue.hpp>
#include <gantry/base/leaky.hpp>
#include <gantry/core/execution_context.hpp>
#include <gantry/core/kernel.hpp>
#include <gantry/core/live_objects.hpp>

#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <mutex>

namespace gantry::host {
namespace {

/// What is protected, labelled with its device: found like what the program holds, without a lock.
LiveObjects& ranges() {
  static Leaky<LiveObjects> all;
  return *all;
}
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
  /// Text from outside.
  Line& printable(const char* text) noexcept {
    for (; *text != '\0' && m_length < sizeof(m_text); ++text) {
      const auto byte = static_cast<unsigned char>(*text);
      m_text[m_length++] = byte < 0x20 || byte == 0x7f ? '?' : *text;
    }
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

/// The beginning of the label of what contains an address.
struct LabelAt {
  LabelAt(const LiveObjects& objects, const void* address) noexcept { objects.label(address, text, sizeof(text)); }
  char text[128];
};

const char* verb_of([[maybe_unused]] const ucontext_t* context) noexcept {
#if defined(__x86_64__)
  constexpr greg_t write_access = 2;
  return (context->uc_mcontext.gregs[REG_ERR] & write_access) != 0 ? "wrote" : "read";
#else
  return "touched";
#endif
}

/// Who touched what it must not.
Line& subject(Line& line) noexcept {
  line << "gantry: error: ";
  const HostQueue* queue = HostQueue::of_running_kernel();
  if (queue == nullptr) return line << "host code";
  const ExecutionContext& context = *execution_context();
  (line << "kernel '").printable(context.kernel->type) << "' on " << queue->engine().options.device_name.c_str();
  return line << ", thread " << context.slot << ",";
}

/// A kernel's access to memory that nobody has.
void explain_kernel(const void* address, const ucontext_t* context) noexcept {
  if (HostQueue::of_running_kernel() == nullptr) return;
  Line line;
  (subject(line) << " " << verb_of(context) << " at ").hex(reinterpret_cast<std::uintptr_t>(address))
      << ": no memory that it may touch\n";
  line.write();
}

void explain(const void* address, const ucontext_t* context) noexcept {
  LiveObjectView range;
  LiveObjectView object;
  if (!ranges().find(address, range)) {
    explain_kernel(address, context);
    return;
  }
  const bool is_live = LiveObjects::get().find(address, object);
  const LiveObjectView& found = is_live ? object : range;
  const auto base = reinterpret_cast<std::uintptr_t>(found.address);
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  Line line;
  (subject(line) << " " << verb_of(context) << " device memory at ").hex(number)
      << ": byte " << number - base << " of ";
  if (is_live) {
    (line << "'").printable(LabelAt(LiveObjects::get(), address).text) << "' (" << object.bytes << " bytes at ";
    line.hex(base) << ")";
  } else {
    (line << "memory at ").hex(base) << " that no allocation holds";
  }
  line << " on " << LabelAt(ranges(), address).text;
  line << (is_live ? "; only kernels and copies of that device may touch it\n" : "\n");
  line.write();
}

bool was_sent(const siginfo_t* info) noexcept {
  return info->si_code <= 0;
}
/// The CPU does not say for each access that faults.
bool has_address(const siginfo_t* info) noexcept {
  return !was_sent(info) && info->si_code != SI_KERNEL;
}

void handle(int signal, siginfo_t* info, void* context) {
  if (has_address(info)) explain(info->si_addr, static_cast<const ucontext_t*>(context));
  if ((g_before.sa_flags & SA_SIGINFO) != 0) {
    g_before.sa_sigaction(signal, info, context);
  } else if (g_before.sa_handler != SIG_DFL && g_before.sa_handler != SIG_IGN) {
    g_before.sa_handler(signal);
  } else {
    // The access is tried again, faults again, and ends the process as it would have without us.
    ::signal(signal, SIG_DFL);
    if (was_sent(info)) ::raise(signal);
  }
}

}  // namespace

void FaultMessage::install() {
  static std::once_flag once;
  std::call_once(once, [] {
    LiveObjects::get();  // made here, not in the handler
    ranges();
    struct sigaction action {};
    action.sa_sigaction = &handle;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &g_before);
  });
}

void FaultMessage::add(const void* memory, std::size_t bytes, std::string_view device_name) {
  ranges().insert(ObjectKind::device_memory, memory, bytes, device_name, {}, "");
}

void FaultMessage::remove(const void* memory) noexcept {
  ranges().remove_memory({}, memory).status().ignore();
}

}  // namespace gantry::host
