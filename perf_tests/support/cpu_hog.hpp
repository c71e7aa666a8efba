// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace perf {

/// Another process that wants a whole CPU, for as long as the object lives. It is bound to no core.
class CpuHog {
 public:
  CpuHog() : m_child(fork()) {
    if (m_child != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (volatile bool on = true; on;) {
    }
  }
  ~CpuHog() {
    if (m_child <= 0) return;
    kill(m_child, SIGKILL);
    waitpid(m_child, nullptr, 0);
  }
  CpuHog(const CpuHog&) = delete;
  CpuHog& operator=(const CpuHog&) = delete;

 private:
  pid_t m_child;
};

}  // namespace perf
