// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "progress.hpp"

#include "kernels.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include <unistd.h>

namespace heat {

Progress::Progress(std::FILE* out, int steps, Domain& domain)
    : m_out(out), m_domain(domain), m_steps(steps), m_terminal(isatty(fileno(out)) == 1) {
  std::fflush(m_out);  // what the host has printed comes before what kernels print
}

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
    print(fmt::format("\r  [{:-<{}}] {}, {:.1f} s left, ", std::string(filled, '#'), width, state, left), " \033[K");
  } else {
    print(fmt::format("  {}  ", state), "\n");
  }
}

void Progress::print(const std::string& before, const std::string& after) {
  const auto text = [](const std::string& characters) {
    Text copied{};
    characters.copy(copied.characters, sizeof(copied.characters) - 1);
    return copied;
  };
  const std::vector<Part>& parts = m_domain.parts();
  const int middle = (parts.back().extent.first_z + parts.back().extent.nz + 1) / 2;  // planes count from 1
  for (Part& part : m_domain.parts()) {
    const Extent& extent = part.extent;
    const int k = middle - extent.first_z;
    if (k < 1 || k > extent.nz) continue;
    kernels::tell(part, k, (extent.ny + 1) / 2, (extent.nx + 1) / 2, text(before), text(after));
    part.device.space.fence("heat: progress");
  }
}

}  // namespace heat
