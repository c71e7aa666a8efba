// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <unit_tests/rpc/conversation.hpp>
#include <unit_tests/rpc/explorer.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <utility>

/// The real Client, ServerPort and WatchList, in every order of their steps: two clients and a server, small rings.
namespace gantry::rpc {
namespace {

using exploration::Explorer;
using exploration::Outcome;
using exploration::Rules;
using namespace model;

Outcome explore(Setup setup, const Rules& rules = {}) {
  Conversation conversation(std::move(setup));
  const Outcome outcome = Explorer::explore(conversation, rules);
  std::printf("%zu states, %zu transitions, %.2f s\n", outcome.states, outcome.transitions, outcome.seconds);
  return outcome;
}
void expect_right(Setup setup, const Rules& rules = {}) {
  const Outcome outcome = explore(std::move(setup), rules);
  EXPECT_TRUE(outcome.error.empty()) << outcome.error;
  EXPECT_TRUE(outcome.complete) << "more states than may be";
}
/// That the error is found.
void expect_wrong(Setup setup, Rules rules, const std::string& error) {
  rules.shortest = true;
  const Outcome outcome = explore(std::move(setup), rules);
  EXPECT_EQ(outcome.error.substr(0, error.size()), error) << outcome.error;
}

class ProtocolExplorationTest : public ::testing::Test {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "the explorer copies the stacks of its fibers, which sanitizers cannot follow; it is one thread";
#endif
  }
};

constexpr Rules busy{.idle_wakes = false};

TEST_F(ProtocolExplorationTest, OneClient) {
  expect_right({.clients = {{{0, {post, call, post, call}}}}});
}

TEST_F(ProtocolExplorationTest, OneClientWithoutForgetting) {
  expect_right({.clients = {{{0, {post, call}}}}, .clients_forget = false});
}

TEST_F(ProtocolExplorationTest, ARingIsFull) {
  expect_right({.clients = {{{0, {longest_post, longest_post, longest_post, longest_call}}}}});
}

TEST_F(ProtocolExplorationTest, RecordsOfAllLengthsGoRoundTheRing) {
  expect_right({.clients = {{{0, {long_post, longest_call, longest_post, call, long_call, longest_post}}}}}, busy);
}

TEST_F(ProtocolExplorationTest, PortsOfTheirOwn) {
  expect_right({.clients = {{{0, {call}}}, {{1, {call}}}}});
  expect_right({.clients = {{{0, {post}}}, {{1, {post, call}}}}});
}

TEST_F(ProtocolExplorationTest, OnePortForTwo) {
  expect_right({.clients = {{{0, {post, call}}}, {{0, {post, call}}}}});
  expect_right({.clients = {{{0, {post}}, {0, {call}}}, {{0, {post}}, {0, {call}}}}}, busy);
}

TEST_F(ProtocolExplorationTest, OneFullPortForTwo) {
  expect_right({.clients = {{{0, {longest_post, longest_call}}}, {{0, {longest_post, longest_call}}}}}, busy);
}

TEST_F(ProtocolExplorationTest, FromPortToPort) {
  expect_right({.clients = {{{0, {post}}, {1, {call}}}, {{1, {call}}}}, .passes_again = false}, busy);
  expect_right({.clients = {{{0, {post}}, {1, {post}}}, {{1, {post}}, {0, {post}}}}, .passes_again = false}, busy);
}

TEST_F(ProtocolExplorationTest, AVisitLeavesRecords) {
  expect_right({.clients = {{{0, {post, post, call}}}}, .most_a_visit = 1});
  expect_right({.clients = {{{0, {post, post}}}, {{1, {post, post}}}}, .most_a_visit = 1, .passes_again = false});
}

TEST_F(ProtocolExplorationTest, TheWatchListIsFull) {
  expect_right({.clients = {{{0, {post, post, call}}}}, .most_a_visit = 1, .list_full = true});
  expect_right({.clients = {{{0, {post}}}, {{1, {post, post}}}}, .most_a_visit = 1, .list_full = true});
}

TEST_F(ProtocolExplorationTest, AbortedAtAnyTime) {
  expect_right({.clients = {{{0, {post, call}}}}, .aborter = true});
  expect_right({.clients = {{{0, {longest_post, longest_post, longest_post, longest_call}}}}, .aborter = true});
  expect_right({.clients = {{{0, {call}}}, {{0, {call}}}}, .aborter = true});
  expect_right({.clients = {{{0, {post}}}, {{1, {call}}}}, .aborter = true, .passes_again = false}, busy);
}

// Minutes, and gigabytes of memory.
TEST_F(ProtocolExplorationTest, DISABLED_Larger) {
  expect_right({.clients = {{{0, {post, call}}}, {{1, {call}}}}});
  expect_right({.clients = {{{0, {post}}}, {{1, {post, post, call}}}}});
  expect_right({.clients = {{{0, {post}}, {1, {call}}}, {{1, {post}}, {0, {post}}}}});
  expect_right({.clients = {{{0, {post, call, post, call}}}, {{0, {post, call, post, call}}}}}, busy);
  expect_right({.clients = {{{0, {call}}}, {{1, {call}}}}, .aborter = true});
}

TEST_F(ProtocolExplorationTest, WithoutTheServersHeavyFenceAWakeUpIsLost) {
  expect_wrong({.clients = {{{0, {call}}}}, .fences_to_sleep = false}, busy, "deadlock");
  expect_wrong({.clients = {{{0, {post}}}}, .fences_to_sleep = false}, busy, "lost call");
}

TEST_F(ProtocolExplorationTest, AHeavyFenceThatReachesNobodyElseLosesAWakeUp) {
  expect_wrong({.clients = {{{0, {call}}}}}, {.fences_reach_others = false, .idle_wakes = false}, "deadlock");
}

}  // namespace
}  // namespace gantry::rpc
