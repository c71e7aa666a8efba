// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/core/fork_guard.hpp>

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <mutex>
#include <new>

namespace gantry {
namespace {
constinit std::atomic<unsigned char> g_static_byte{1};
}  // namespace

namespace impl {
constinit std::atomic<const std::atomic<unsigned char>*> g_fork_byte{&g_static_byte};
}  // namespace impl

void arm_fork_guard() noexcept {
  static std::once_flag once;
  std::call_once(once, [] {
    const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    void* page = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page != MAP_FAILED && madvise(page, size, MADV_WIPEONFORK) == 0) {
      impl::g_fork_byte.store(new (page) std::atomic<unsigned char>(1), std::memory_order_release);
      return;
    }
    // Without a page that the kernel wipes, children made by fork() are still seen; those of a bare clone() are not.
    if (page != MAP_FAILED) munmap(page, size);
    pthread_atfork(nullptr, nullptr, [] { g_static_byte.store(0, std::memory_order_relaxed); });
  });
}

Status forked_child_error() {
  return Status::error(
      Code::refused,
      "this process was forked from one that uses Gantry: devices do not survive fork(); use them in the "
      "parent only, start the child with exec, or fork before the first use of Gantry");
}

}  // namespace gantry
