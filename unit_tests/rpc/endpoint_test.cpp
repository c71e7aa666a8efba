// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rpc_fixture.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <chrono>
#include <numeric>
#include <sstream>
#include <vector>

namespace gantry::rpc {
namespace {

using testing::HasSubstr;

/// A server and the endpoint of a device with some ports.
class EndpointTest : public testing::Test {
 protected:
  static constexpr std::uint32_t ports = 8;
  Server server{{.name = "test", .on_thread_start = {}}};
  OpenEndpoint device{server, ports};
};

TEST_F(EndpointTest, OnePortsRecordsAreServedInOrder) {
  std::vector<std::uint64_t> seen;
  const ScopedHandler handler(1, [&](Call& call) -> Status {
    std::uint64_t number = 0;
    std::memcpy(&number, call.payload.data(), sizeof(number));
    seen.push_back(number);
    return {};
  });
  constexpr std::uint64_t count = 10'000;  // many laps of the ring, some waiting for an answer
  for (std::uint64_t i = 0; i < count; ++i) {
    if (i % 7 == 0) {
      std::uint64_t number = i;
      EXPECT_EQ(device.call(0, user(1), number), Answer::ok);
    } else {
      EXPECT_TRUE(device.post(0, user(1), i));
    }
  }
  device->flush();
  std::vector<std::uint64_t> all(count);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(seen, all);
  const CallStatistics counted = device->statistics();
  EXPECT_EQ(counted.calls, count);
  EXPECT_EQ(counted.bytes, count * 8);
  EXPECT_EQ(counted.failed, 0U);
}

TEST_F(EndpointTest, ManyThreadsGetTheirOwnAnswers) {
  struct Message {
    std::uint64_t thread;
    std::uint64_t number;
  };
  const ScopedHandler handler(1, [](Call& call) -> Status {
    Message message;
    std::memcpy(&message, call.payload.data(), sizeof(message));
    message.number += 1000 * message.thread;
    std::memcpy(call.payload.data(), &message, sizeof(message));
    return {};
  });
  for (const bool shared : {false, true}) {
    std::vector<std::jthread> threads;
    for (std::uint64_t t = 0; t < ports; ++t) {
      threads.emplace_back([&, t] {
        for (std::uint64_t i = 0; i < 300; ++i) {
          Message message{t, i};
          EXPECT_EQ(device.call(shared ? 3 : static_cast<std::uint32_t>(t), user(1), message), Answer::ok);
          EXPECT_EQ(message.number, i + 1000 * t);
        }
      });
    }
  }
}

TEST_F(EndpointTest, MessagesOfManyRecordsArriveWhole) {
  std::string got;
  const ScopedHandler handler(1, [&](Call& call) -> Status {
    got.assign(call.payload.data(), call.payload.size());
    return {};
  });
  const std::uint32_t limit = Client<HostPlatform>(device.channel(), 0).max_payload();
  EXPECT_EQ(limit, (31U * 64 - 24) / 8 * 8);
  for (const std::uint32_t bytes :
       {0U, 1U, limit - 8, limit, limit + 1, 2 * limit, 2 * limit + 8, 100'003U, 4U << 20}) {
    std::string sent(bytes, '\0');
    for (std::size_t i = 0; i < bytes; ++i) sent[i] = static_cast<char>(i * 7 + i / 251);
    EXPECT_TRUE(Client<HostPlatform>(device.channel(), 0).post_bytes(user(1), sent.data(), bytes));
    device->flush();
    ASSERT_GE(got.size(), sent.size());
    EXPECT_LT(got.size(), sent.size() + 8);
    got.resize(sent.size());
    EXPECT_TRUE(got == sent) << bytes << " bytes";
  }
}

/// Twice past the number where the turns repeat, once past the number where the places begin again.
TEST(EndpointPlacesTest, BeginAgainAfterFourThousandMillionLines) {
  Server server{{.name = "test", .on_thread_start = {}}};
  OpenEndpoint device(server, 1, "fake", 1U << 16);
  std::uint64_t served = 0;
  const ScopedHandler handler(1, [&served](Call&) -> Status {
    ++served;
    return {};
  });
  const auto next = [&] { return device.channel().port(0).client.next; };
  const std::uint32_t most = Client<HostPlatform>(device.channel(), 0).max_payload();
  std::uint64_t sent = 0;
  std::uint64_t calls = 0;
  for (std::uint64_t lines = 0; lines < (std::uint64_t{1} << 32) + 3 * device.channel().ring_lines; ++sent) {
    const std::uint32_t before = next();
    // Its payload stays as it is: whatever lies there.
    ASSERT_TRUE(Client<HostPlatform>(device.channel(), 0).post(user(1), most, [](char*) {}));
    if (sent % 4096 == 0 || next() < before) {
      ASSERT_TRUE(device.answers(0));
      ++calls;
    }
    lines += next() - before;
  }
  device->flush();
  EXPECT_EQ(served, sent);
  EXPECT_TRUE(device.answers(0));
  EXPECT_EQ(device->statistics().calls, sent + calls + 1);
}

TEST_F(EndpointTest, TwoPortsMessagesOfManyRecordsDoNotMix) {
  std::atomic<int> whole{0};
  const ScopedHandler handler(1, [&](Call& call) -> Status {
    if (std::count(call.payload.begin(), call.payload.end(), call.payload[0]) == 40'000) ++whole;
    return {};
  });
  std::vector<std::jthread> threads;
  for (std::uint32_t t = 0; t < ports; ++t) {
    threads.emplace_back([&, t] {
      const std::string sent(40'000, static_cast<char>('a' + t));
      for (int i = 0; i < 10; ++i)
        EXPECT_TRUE(Client<HostPlatform>(device.channel(), t).post_bytes(user(1), sent.data(), 40'000));
    });
  }
  threads.clear();
  device->flush();
  EXPECT_EQ(whole, 10 * ports);
}

TEST_F(EndpointTest, MessagesBeyondTheLimitAreRefusedWhole) {
  device.printed.with_log();
  std::atomic<int> served{0};
  const ScopedHandler handler(1, [&](Call&) -> Status {
    ++served;
    return {};
  });
  const std::uint32_t limit = Client<HostPlatform>(device.channel(), 0).max_payload();
  const std::uint32_t most = 64U << 20;
  // With a last record that would fit where the one before it did not, too.
  for (const std::uint32_t bytes : {most + 8, most / limit * limit + limit + 8, most + 5 * limit}) {
    const std::string sent(bytes, 'x');
    EXPECT_TRUE(Client<HostPlatform>(device.channel(), 0).post_bytes(user(1), sent.data(), bytes));
    device->flush();
    EXPECT_EQ(served, 0) << bytes << " bytes";
    EXPECT_THAT(device.text(), HasSubstr("refused: it has more than"));
    served = 0;
    EXPECT_TRUE(device.answers(0));
  }
}

TEST_F(EndpointTest, WhatWasPrintedBeforeACallIsVisibleInItsHandler) {
  Gate gate;
  const ScopedHandler busy(2, [&](Call&) -> Status {
    gate.pass();
    return {};
  });
  std::string seen;
  const ScopedHandler handler(1, [&](Call&) -> Status {
    seen = device.text();
    return {};
  });
  EXPECT_TRUE(device.post(1, user(2), std::uint64_t{0}));
  gate.await_one();
  EXPECT_TRUE(device.print(0, "before\n"));
  EXPECT_TRUE(device.post(0, user(1), std::uint64_t{0}));
  gate.open();  // both records are there when the server comes
  device->flush();
  EXPECT_EQ(seen, "before\n");
}

TEST_F(EndpointTest, AnErrorAndWhateverAHandlerThrowsAreFailures) {
  device.printed.with_log();
  const ScopedHandler error(1, [](Call&) { return Status::error(Code::busy, "its error"); });
  const ScopedHandler exception(2, [](Call&) -> Status { throw std::runtime_error("its exception"); });
  const ScopedHandler number(3, [](Call&) -> Status { throw 42; });
  for (const std::uint32_t which : {1U, 2U, 3U}) {
    std::uint64_t argument = which;
    EXPECT_EQ(device.call(0, user(which), argument), Answer::failed);
    EXPECT_EQ(argument, which) << "no answer is read";
    EXPECT_TRUE(device.answers(0));
  }
  EXPECT_THAT(device.text(), HasSubstr("its error"));
  EXPECT_THAT(device.text(), HasSubstr("its exception"));
  EXPECT_THAT(device.text(), HasSubstr("something that is no std::exception"));
  EXPECT_THAT(device.text(), HasSubstr(device.services.name()));
  device->flush();
  EXPECT_EQ(device->statistics().failed, 3U);
}

TEST_F(EndpointTest, OfManyFailuresTheFirstAreLogged) {
  device.printed.with_log();
  for (std::uint64_t i = 0; i < 100; ++i) EXPECT_EQ(device.call(0, user(77), i), Answer::unknown);
  device->flush();
  EXPECT_EQ(device->statistics().failed, 100U);
  const std::string text = device.text();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 20);
  EXPECT_THAT(text, HasSubstr("further failures are counted only"));
}

TEST_F(EndpointTest, MemoryIsGivenAndTakenBack) {
  device.printed.with_log();
  struct Message {
    std::uint64_t bytes;
    std::uint64_t address;
  };
  Message message{100, 0};
  EXPECT_EQ(device.call(0, allocate_opcode, message), Answer::ok);
  EXPECT_NE(message.address, 0U);
  Message wild{0, 0x1234};
  EXPECT_EQ(device.call(0, free_opcode, wild), Answer::failed);
  EXPECT_EQ(device.call(1, free_opcode, message), Answer::ok);
  EXPECT_EQ(device.services.live(), 0U);
  EXPECT_EQ(device.call(1, free_opcode, message), Answer::failed) << "freed before";
  device->flush();
  EXPECT_EQ(device->statistics().failed, 2U);
  device.services.set_full(true);
  EXPECT_EQ(device.call(1, allocate_opcode, message), Answer::ok);
  EXPECT_EQ(message.address, 0U);
  device.services.set_full(false);
  EXPECT_EQ(device.call(1, allocate_opcode, message), Answer::ok);
  EXPECT_NE(message.address, 0U);
  device->flush();
  EXPECT_EQ(device->statistics().failed, 2U) << "no room is no failure";
  // Of a length that is not the message's.
  std::uint64_t half = 0;
  std::array<std::uint64_t, 3> more{};
  for (const Opcode opcode : {allocate_opcode, free_opcode}) {
    EXPECT_EQ(device.call(0, opcode, half), Answer::failed);
    EXPECT_EQ(device.call(0, opcode, more), Answer::failed);
  }
  EXPECT_THAT(device.text(), HasSubstr("payload of 24 bytes has the wrong length"));
  EXPECT_EQ(device.services.allocations(), 2);
}

TEST_F(EndpointTest, WhatWasPostedIsVisibleWhenFlushReturns) {
  std::vector<std::jthread> threads;
  for (std::uint32_t t = 0; t < ports; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 100; ++i) {
        EXPECT_TRUE(device.print(t, "<%u:%d>\n", t, i));
        device->flush();
        EXPECT_THAT(device.text(), HasSubstr(fmt::format("<{}:{}>\n", t, i)));
      }
    });
  }
}

TEST_F(EndpointTest, TextIsVisibleBeforeTheAnswerThatFollowsIt) {
  Gate first;
  Gate last;
  const ScopedHandler handler(1, [&](Call& call) -> Status {
    (call.payload[0] == 0 ? first : last).pass();
    return {};
  });
  // All in one visit of the port, which goes on behind the answer for as long as the last one is stuck.
  EXPECT_TRUE(device.post(0, user(1), std::uint64_t{0}));
  first.await_one();
  EXPECT_TRUE(device.print(0, "text"));
  Port& port = device.channel().port(0);
  const std::uint32_t place = port.client.next;
  EXPECT_TRUE(Client<HostPlatform>(device.channel(), 0)
                  .post(
                      echo_opcode, 8, [](char* to) { std::memset(to, 0, 8); }, Record::wants_answer));
  EXPECT_TRUE(device.post(0, user(1), std::uint64_t{1}));
  first.open();
  last.await_one();
  EXPECT_EQ(HostPlatform::load(port.record(place, device.channel().ring_lines).turn), answered_turn(place));
  EXPECT_EQ(device.text(), "text");
  last.open();
  device->flush();
}

TEST_F(EndpointTest, FlushInAHandlerReturnsAtOnce) {
  const ScopedHandler handler(1, [&](Call&) -> Status {
    EXPECT_TRUE(device.print(1, "behind\n"));
    device->flush();  // would wait for the call that it is in
    return {};
  });
  std::uint64_t argument = 0;
  EXPECT_EQ(device.call(0, user(1), argument), Answer::ok);
  device->flush();
  EXPECT_EQ(device.text(), "behind\n");
}

TEST_F(EndpointTest, FlushStopsWaitingAtItsTimeout) {
  Gate gate;
  const ScopedHandler handler(1, [&](Call&) -> Status {
    gate.pass();
    return {};
  });
  EXPECT_TRUE(device.post(0, user(1), std::uint64_t{0}));
  gate.await_one();
  device->flush(std::chrono::nanoseconds(1));
  gate.open();
  device->flush();
  EXPECT_EQ(device->statistics().calls, 1U);
}

/// Each thread's lines are there, whole and in order.
void expect_lines(const std::string& text, int threads, int lines) {
  std::vector<int> next(static_cast<std::size_t>(threads));
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    int thread = -1;
    int number = -1;
    ASSERT_EQ(std::sscanf(line.c_str(), "thread %d line %d", &thread, &number), 2) << line;
    ASSERT_EQ(line, fmt::format("thread {} line {} {}", thread, number,
                                std::string(static_cast<std::size_t>(number % 90), 'x')));
    ASSERT_EQ(number, next.at(static_cast<std::size_t>(thread))++);
  }
  for (const int seen : next) EXPECT_EQ(seen, lines);
}

TEST_F(EndpointTest, AFullRingHoldsItsClientAndNothingIsLost) {
  constexpr int threads = 8;
  constexpr int lines = 6250;
  for (const std::uint32_t used : {ports, 2U}) {
    const std::size_t before = device.text().size();
    std::vector<std::jthread> pool;
    for (int t = 0; t < threads; ++t) {
      pool.emplace_back([&, t] {
        for (int i = 0; i < lines; ++i) {
          const std::string tail(static_cast<std::size_t>(i % 90), 'x');
          EXPECT_TRUE(device.print(static_cast<std::uint32_t>(t) % used, "thread %d line %d %s\n", t, i, tail.c_str()));
        }
      });
    }
    pool.clear();
    device->flush();
    expect_lines(device.text().substr(before), threads, lines);
  }
}

TEST_F(EndpointTest, APortThatIsNeverEmptyDoesNotStarveOthers) {
  std::atomic<bool> stop{false};
  std::jthread talker([&] {
    while (!stop) device.post(0, echo_opcode, std::uint64_t{1});
  });
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(device.answers(1 + static_cast<std::uint32_t>(i) % (ports - 1)));
  stop = true;
}

TEST(EndpointShapeTest, MorePortsThanAreWatchedAreAllServed) {
  Server server({.name = "test", .on_thread_start = {}});
  OpenEndpoint device(server, 200, "fake", 4);
  std::vector<std::jthread> threads;
  for (std::uint32_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint32_t i = t; i < 600; i += 8) EXPECT_TRUE(device.answers(i % 200));
      for (std::uint32_t i = t; i < 600; i += 8) EXPECT_TRUE(device.post(i % 200, echo_opcode, std::uint64_t{i}));
    });
  }
  threads.clear();
  device->flush();
  EXPECT_EQ(device->statistics().calls, 1200U);
}

TEST(EndpointShapeTest, WhatOneVisitLeavesInAPortThatIsNotWatchedIsServedLater) {
  Server server({.name = "test", .on_thread_start = {}});
  OpenEndpoint device(server, 100);
  Gate gate;
  const ScopedHandler handler(1, [&](Call&) -> Status {
    gate.pass();
    return {};
  });
  EXPECT_TRUE(device.post(0, user(1), std::uint64_t{0}));
  gate.await_one();
  for (std::uint32_t port = 1; port < 100; ++port)
    for (int i = 0; i < 40; ++i) EXPECT_TRUE(device.post(port, echo_opcode, std::uint64_t{0}));
  gate.open();
  device->flush(std::chrono::minutes(1));  // would never return if a port were forgotten
  EXPECT_EQ(device->statistics().calls, 1U + 99 * 40);
}

}  // namespace
}  // namespace gantry::rpc
