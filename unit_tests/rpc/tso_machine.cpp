// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <unit_tests/rpc/tso_machine.hpp>

#include <unit_tests/rpc/state_hash.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace gantry::exploration {
namespace {

namespace context = boost::context::detail;

/// What a thread sees in memory.
Word seen_by(const Thread& thread, const Word& word) {
  for (unsigned i = thread.buffered; i-- > 0;)
    if (thread.buffer[i].word == &word) return thread.buffer[i].value;
  return word;
}
void read(Thread& thread) {
  thread.history = mix(thread.history, thread.result);
  if (thread.reads < max_reads) thread.read[thread.reads] = {thread.word, thread.result};
  if (thread.reads <= max_reads) ++thread.reads;
}

}  // namespace

TsoMachine::TsoMachine(Program& program, const Rules& rules)
    : m_program(program), m_rules(rules), m_stacks(std::size_t{program.threads()} * stack_bytes) {
  if (program.threads() > max_threads) std::abort();
  s_current = this;
}

void TsoMachine::restart() {
  m_program.reset();
  m_failure.clear();
  m_threads = {};
  for (unsigned i = 0; i < threads().size(); ++i) {
    m_threads[i].fiber = context::make_fcontext(const_cast<std::byte*>(stack_top(i)), stack_bytes, &enter);
    resume(i);
  }
}

// -- steps

void TsoMachine::enabled(std::vector<Choice>& choices) const {
  choices.clear();
  for (unsigned i = 0; i < threads().size(); ++i) {
    const Thread& thread = m_threads[i];
    if (thread.buffered > most_buffered) {
      choices.push_back(choice(i, flush));
      continue;
    }
    switch (thread.kind) {
      case Kind::load:
      case Kind::pause: choices.push_back(choice(i, usual)); break;
      case Kind::exchange:
      case Kind::increment:
      case Kind::fence:
        if (thread.buffered == 0) choices.push_back(choice(i, usual));
        break;
      case Kind::fence_end:
        if (!awaited(i)) choices.push_back(choice(i, usual));
        break;
      case Kind::choose:
        choices.push_back(choice(i, usual));
        choices.push_back(choice(i, other));
        break;
      case Kind::wait:
        if (thread.changed) choices.push_back(choice(i, usual));
        choices.push_back(choice(i, other));
        break;
      case Kind::sleep:
      case Kind::block:
        if (seen_by(thread, *thread.word) != thread.value) {
          choices.push_back(choice(i, usual));
        } else if (thread.kind == Kind::sleep && m_rules.idle_wakes) {
          choices.push_back(choice(i, idle));
        }
        break;
      case Kind::end: break;
    }
    if (thread.buffered != 0) choices.push_back(choice(i, flush));
  }
}

void TsoMachine::take(Choice by) {
  const unsigned number = thread_of(by);
  if (variant_of(by) == flush) {
    flush_oldest(m_threads[number]);
  } else {
    run(number, variant_of(by));
  }
  for (Thread& waiting : threads()) {
    if (waiting.kind != Kind::wait || waiting.changed) continue;
    waiting.changed = waiting.reads > max_reads;
    for (unsigned i = 0; i < waiting.reads && !waiting.changed; ++i)
      waiting.changed = seen_by(waiting, *waiting.read[i].word) != waiting.read[i].value;
  }
}

void TsoMachine::flush_oldest(Thread& thread) {
  *thread.buffer[0].word = thread.buffer[0].value;
  --thread.buffered;
  thread.fresh = std::min(thread.fresh, thread.buffered);
  std::copy(thread.buffer.begin() + 1, thread.buffer.begin() + 1 + thread.buffered, thread.buffer.begin());
}

void TsoMachine::run(unsigned number, Variant variant) {
  Thread& thread = m_threads[number];
  thread.fresh = 0;
  switch (thread.kind) {
    case Kind::load:
      thread.result = seen_by(thread, *thread.word);
      read(thread);
      break;
    case Kind::exchange:
      thread.result = *thread.word;
      *thread.word = thread.value;
      read(thread);
      break;
    case Kind::increment: ++*thread.word; break;
    case Kind::fence:
      if (m_rules.fences_reach_others) {
        for (Thread& other : threads())
          for (unsigned i = 0; i < static_cast<unsigned>(other.buffered - other.fresh); ++i)
            other.buffer[i].awaited |= 1U << number;
        if (awaited(number)) {
          thread.kind = Kind::fence_end;
          return;
        }
      }
      break;
    case Kind::choose:
      thread.result = variant == usual ? 0 : 1;
      thread.history = mix(thread.history, thread.result);
      break;
    case Kind::wait:
      thread.result = variant == usual ? 1 : 0;
      thread.history = mix(thread.checkpoint, thread.result);
      thread.changed = false;
      thread.reads = 0;
      break;
    default: break;
  }
  resume(number);
}

bool TsoMachine::awaited(unsigned fence) const {
  for (const Thread& thread : threads())
    for (unsigned i = 0; i < thread.buffered; ++i)
      if ((thread.buffer[i].awaited >> fence & 1) != 0) return true;
  return false;
}

// -- the state

std::uint64_t TsoMachine::hash() const {
  const std::span<const std::byte> shared = m_program.shared();
  std::uint64_t hash = hash_of(shared);
  const auto offset = [&](const Word* word) {
    return static_cast<std::uint64_t>(reinterpret_cast<const std::byte*>(word) - shared.data());
  };
  for (const Thread& thread : threads()) {
    // Where it waits it has forgotten what it read.
    hash = mix(hash, thread.kind == Kind::wait ? thread.checkpoint : thread.history);
    hash = mix(hash, static_cast<std::uint64_t>(thread.kind) | std::uint64_t{thread.changed} << 8 |
                         std::uint64_t{thread.buffered} << 16 | std::uint64_t{thread.fresh} << 24 |
                         std::uint64_t{thread.value} << 32);
    hash = mix(hash, thread.word == nullptr ? 0 : offset(thread.word));
    for (unsigned i = 0; i < thread.buffered; ++i) {
      const Buffered& entry = thread.buffer[i];
      hash = mix(hash, offset(entry.word) << 40 | std::uint64_t{entry.awaited} << 32 | entry.value);
    }
  }
  return hash;
}

void TsoMachine::save(std::vector<std::byte>& to) const {
  to.clear();
  const auto add = [&](const void* from, std::size_t bytes) {
    const std::size_t at = to.size();
    to.resize(at + bytes);
    std::memcpy(to.data() + at, from, bytes);
  };
  add(m_program.shared().data(), m_program.shared().size());
  for (const std::span<std::byte> owned : m_program.owned()) add(owned.data(), owned.size());
  add(threads().data(), threads().size_bytes());
  for (unsigned i = 0; i < threads().size(); ++i) {
    const auto* sp = static_cast<const std::byte*>(m_threads[i].fiber);
    add(sp, static_cast<std::size_t>(stack_top(i) - sp));
  }
}

void TsoMachine::restore(const std::vector<std::byte>& saved) {
  const std::byte* from = saved.data();
  const auto get = [&](void* to, std::size_t bytes) {
    std::memcpy(to, from, bytes);
    from += bytes;
  };
  get(m_program.shared().data(), m_program.shared().size());
  for (const std::span<std::byte> owned : m_program.owned()) get(owned.data(), owned.size());
  get(threads().data(), threads().size_bytes());
  for (unsigned i = 0; i < threads().size(); ++i) {
    auto* sp = static_cast<std::byte*>(m_threads[i].fiber);
    get(sp, static_cast<std::size_t>(stack_top(i) - sp));
  }
}

// -- the threads

void TsoMachine::enter(context::transfer_t from) {
  TsoMachine& machine = current();
  machine.m_scheduler = from.fctx;
  machine.m_program.run(machine.m_running);
  machine.step(Kind::end);
  std::abort();
}

void TsoMachine::resume(unsigned number) {
  m_running = number;
  Thread& thread = m_threads[number];
  thread.fiber = context::jump_fcontext(thread.fiber, nullptr).fctx;
}

const std::byte* TsoMachine::stack_top(unsigned thread) const noexcept {
  return m_stacks.data() + (thread + 1) * stack_bytes;
}

Word TsoMachine::step(Kind kind, const Word* word, Word value) {
  Thread& self = running();
  self.kind = kind;
  self.word = const_cast<Word*>(word);
  self.value = value;
  m_scheduler = context::jump_fcontext(m_scheduler, nullptr).fctx;
  return running().result;
}

void TsoMachine::store(Word& word, Word value) {
  Thread& self = running();
  self.reads = 0;
  if (self.buffered == max_buffered) std::abort();
  self.buffer[self.buffered++] = {&word, value, 0};
  ++self.fresh;
}

}  // namespace gantry::exploration
