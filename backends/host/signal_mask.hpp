// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pthread.h>
#include <signal.h>

namespace gantry::host {

/// While one lives, the calling thread (and every thread that it starts, for ever) leaves signals to the program's own
/// threads; but not those that tell of a fault of the thread itself.
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

}  // namespace gantry::host
