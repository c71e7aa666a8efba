// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <unit_tests/rpc/exploration_trace.hpp>

#include <fmt/format.h>

#include <span>
#include <utility>

namespace gantry::exploration {

std::string trace(TsoMachine& machine, const std::vector<Choice>& path) {
  const Program& program = machine.program();
  const std::span<const Thread> threads = std::as_const(machine).threads();
  std::string steps;
  machine.restart();
  for (const Choice by : path) {
    const Thread& thread = threads[thread_of(by)];
    std::string line = fmt::format("  {}: ", program.thread_name(thread_of(by)));
    const Thread before = thread;
    machine.take(by);
    const std::string word = before.word == nullptr ? "" : program.word_name(*before.word);
    if (variant_of(by) == flush) {
      line += fmt::format("        its {} = {} reaches memory", program.word_name(*before.buffer[0].word),
                          before.buffer[0].value);
    } else {
      switch (before.kind) {
        case Kind::load: line += fmt::format("reads {}: {}", word, thread.result); break;
        case Kind::exchange: line += fmt::format("exchanges {}: {} -> {}", word, thread.result, before.value); break;
        case Kind::increment: line += fmt::format("signals {}", word); break;
        case Kind::fence: line += thread.kind == Kind::fence_end ? "heavy fence begins" : "heavy fence"; break;
        case Kind::fence_end: line += "heavy fence ends"; break;
        case Kind::pause: line += "pauses"; break;
        case Kind::choose: line += fmt::format("chooses {}", thread.result); break;
        case Kind::wait: line += variant_of(by) == usual ? "polls again" : "polls no more"; break;
        case Kind::sleep:
        case Kind::block:
          line +=
              fmt::format("wakes: {} is not {}{}", word, before.value, variant_of(by) == idle ? " (idle wake)" : "");
          break;
        case Kind::end: break;
      }
      for (unsigned i = thread.buffered - thread.fresh; i < thread.buffered; ++i)
        line += fmt::format("; stores {} = {}", program.word_name(*thread.buffer[i].word), thread.buffer[i].value);
    }
    steps += line + '\n';
  }
  for (unsigned i = 0; i < threads.size(); ++i) {
    const Thread& thread = threads[i];
    steps += fmt::format("  {} {}\n", program.thread_name(i),
                         thread.kind == Kind::end ? "has ended"
                         : thread.kind == Kind::sleep || thread.kind == Kind::block
                             ? "sleeps on " + program.word_name(*thread.word)
                         : thread.kind == Kind::wait ? "polls"
                                                     : "is on its way");
  }
  return steps;
}

}  // namespace gantry::exploration
