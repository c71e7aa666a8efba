// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/base/service_thread.hpp>

#include <fmt/format.h>

#include <pthread.h>
#include <signal.h>

#include <new>
#include <system_error>
#include <utility>

namespace gantry {
namespace {

/// The mask of the calling thread while one lives, which a thread started meanwhile keeps.
class SignalMask {
 public:
  SignalMask() noexcept {
    sigset_t blocked;
    sigfillset(&blocked);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT}) sigdelset(&blocked, fault);
    pthread_sigmask(SIG_SETMASK, &blocked, &m_before);
  }
  ~SignalMask() { pthread_sigmask(SIG_SETMASK, &m_before, nullptr); }
  SignalMask(const SignalMask&) = delete;
  SignalMask& operator=(const SignalMask&) = delete;

 private:
  sigset_t m_before;
};

}  // namespace

Status start_service_thread(std::thread& thread, const std::string& what, std::function<void()> main) {
  try {
    const SignalMask mask;
    thread = std::thread(std::move(main));
    return {};
  } catch (const std::bad_alloc& error) {
    return Status::error(Code::out_of_memory, fmt::format("starting {}: {}", what, error.what()));
  } catch (const std::system_error& error) {
    return Status::error(Code::driver_error, fmt::format("starting {}: {}", what, error.what()), error.code().value());
  }
}

}  // namespace gantry
