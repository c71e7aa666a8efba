// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "progress.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include <unistd.h>

namespace heat {

Progress::Progress(std::FILE* out, int steps) : m_out(out), m_steps(steps), m_terminal(isatty(fileno(out)) == 1) {}

Progress::~Progress() {
  if (m_terminal && m_done > 0) std::fputc('\n', m_out);
}

void Progress::step_done(int iterations) {
  using namespace std::chrono_literals;
  ++m_done;
  const auto tenth = [&](int step) { return std::int64_t{10} * step / m_steps; };
  const auto now = Clock::now();
  const bool due = m_terminal ? now - m_drawn > 100ms || m_done == m_steps : tenth(m_done) != tenth(m_done - 1);
  if (!due) return;
  m_drawn = now;

  const double seconds = std::chrono::duration<double>(now - m_begin).count();
  const std::string state = fmt::format("{:3} %  step {}/{}  {} iterations  {:.1f} s",
                                        std::int64_t{100} * m_done / m_steps, m_done, m_steps, iterations, seconds);
  if (m_terminal) {
    constexpr int width = 30;
    const auto filled = static_cast<std::size_t>(std::int64_t{width} * m_done / m_steps);
    const double left = seconds * (m_steps - m_done) / m_done;
    // Erases what a longer line before has left behind.
    fmt::print(m_out, "\r  [{:-<{}}] {}, {:.1f} s left \033[K", std::string(filled, '#'), width, state, left);
  } else {
    fmt::print(m_out, "  {}\n", state);
  }
  std::fflush(m_out);
}

}  // namespace heat
