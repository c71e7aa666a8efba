// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <string>

namespace gantry::test {

/// How a program ended: its exit status (128 + the signal when one killed it), and what it wrote.
struct Outcome {
  int status = -1;
  std::string output;
};

/// Runs a shell command to its end. `output` has what the command sent to stdout: redirect in the command.
inline Outcome run_program(const std::string& command) {
  Outcome outcome;
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return outcome;
  char buffer[4096];
  for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) outcome.output.append(buffer, n);
  const int ended = pclose(pipe);
  outcome.status = WIFEXITED(ended) ? WEXITSTATUS(ended) : 128 + WTERMSIG(ended);
  return outcome;
}

}  // namespace gantry::test
