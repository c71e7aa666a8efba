// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <unit_tests/rpc/explorer.hpp>

#include <unit_tests/rpc/exploration_run.hpp>
#include <unit_tests/rpc/state_hash.hpp>
#include <unit_tests/rpc/tso_machine.hpp>

#include <utility>

namespace gantry::exploration {

Outcome Explorer::explore(Program& program, const Rules& rules) {
  return ExplorationRun(program, rules).explore();
}

std::uint64_t Explorer::mix(std::uint64_t hash, std::uint64_t value) noexcept {
  return exploration::mix(hash, value);
}

Word Explorer::load(const Word& word) {
  return TsoMachine::current().step(Kind::load, &word);
}
void Explorer::store(Word& word, Word value) {
  TsoMachine::current().store(word, value);
}
Word Explorer::exchange(Word& word, Word value) {
  return TsoMachine::current().step(Kind::exchange, &word, value);
}
void Explorer::increment(Word& word) {
  TsoMachine::current().step(Kind::increment, &word);
}
void Explorer::heavy_fence() {
  TsoMachine::current().step(Kind::fence);
}
void Explorer::pause() {
  TsoMachine::current().step(Kind::pause);
}
unsigned Explorer::choose() {
  return TsoMachine::current().step(Kind::choose);
}
void Explorer::sleep_while(const Word& word, Word value) {
  TsoMachine::current().step(Kind::sleep, &word, value);
}
void Explorer::block_while(const Word& word, Word value) {
  TsoMachine::current().step(Kind::block, &word, value);
}
bool Explorer::wait() {
  return TsoMachine::current().step(Kind::wait) != 0;
}

void Explorer::checkpoint(std::uint64_t state) {
  Thread& self = TsoMachine::current().running();
  self.checkpoint = mix(0, state);
  self.history = self.checkpoint;
  self.reads = 0;
}
void Explorer::kept(std::uint64_t value) {
  Thread& self = TsoMachine::current().running();
  self.checkpoint = mix(self.checkpoint, value);
  self.history = mix(self.history, value);
}
void Explorer::observe(std::uint64_t value) {
  Thread& self = TsoMachine::current().running();
  self.history = mix(self.history, value);
}
void Explorer::forget() {
  Thread& self = TsoMachine::current().running();
  self.history = mix(self.checkpoint, self.held);
}
void Explorer::hold(std::uint64_t value) {
  TsoMachine::current().running().held = value;
}
void Explorer::fail(std::string what) {
  TsoMachine::current().fail(std::move(what));
}

}  // namespace gantry::exploration
