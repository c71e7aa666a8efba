// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rpc_fixture.hpp"

#include <gmock/gmock.h>

#include <vector>

namespace gantry::rpc {
namespace {

/// Devices of one server; the handler of the call 1 of the first is stuck until its gate opens.
class HandoverTest : public testing::Test {
 protected:
  void SetUp() override {
    m_client = std::jthread([this] {
      std::uint64_t argument = 7;
      EXPECT_EQ(a.call(0, user(1), argument), Answer::ok);
      EXPECT_EQ(argument, 8U);
    });
    gate.await_one();
  }
  void TearDown() override {
    gate.open();
    m_client.join();
    await([&] { return server.threads() == 1; });
  }

  Gate gate;
  Server server{{.name = "test", .on_thread_start = {}}};
  OpenEndpoint a{server, 2};
  OpenEndpoint b{server, 2};
  const ScopedHandler handler{1, [this](Call& call) -> Status {
                                if (call.device == a.services.id()) gate.pass();
                                ++call.payload[0];
                                return {};
                              }};

 private:
  std::jthread m_client;
};

TEST_F(HandoverTest, AnotherDevicesCallsAreServedMeanwhile) {
  for (std::uint32_t i = 0; i < 100; ++i) EXPECT_TRUE(b.answers(i % 2));
  await([&] { return server.threads() == 2; });
  EXPECT_GE(server.statistics().hand_overs, 1U);
}

TEST_F(HandoverTest, TheStuckDevicesOwnCallsWaitAndAreServedAfterwards) {
  std::atomic<bool> served{false};
  std::jthread client([&] {
    EXPECT_TRUE(a.answers(1));
    served = true;
  });
  EXPECT_TRUE(b.answers(0));
  EXPECT_FALSE(served);
  gate.open();
  client.join();
  EXPECT_TRUE(a.answers(1));
}

TEST_F(HandoverTest, SeveralDevicesCanBeStuck) {
  Gate second;
  const ScopedHandler stuck(2, [&](Call&) -> Status {
    second.pass();
    return {};
  });
  OpenEndpoint c(server);
  std::jthread client([&] {
    std::uint64_t argument = 0;
    EXPECT_EQ(b.call(0, user(2), argument), Answer::ok);
  });
  second.await_one();
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(c.answers(0));
  await([&] { return server.threads() == 3; });  // one that another took over from may be on its way out
  second.open();
  client.join();
  EXPECT_TRUE(b.answers(1));
}

TEST_F(HandoverTest, FlushOfAnotherDeviceWaitsForNoStuckHandler) {
  EXPECT_TRUE(b.print(0, "text"));
  b->flush();
  EXPECT_EQ(b.text(), "text");
}

TEST_F(HandoverTest, AnotherDeviceOpensAndClosesMeanwhile) {
  for (int i = 0; i < 5; ++i) {
    OpenEndpoint c(server);
    EXPECT_TRUE(c.answers(0));
  }
}

TEST_F(HandoverTest, ADeviceIsServedAfterEachOfManyHandOvers) {
  gate.open();
  for (int i = 0; i < 20; ++i) {
    Gate next;
    const ScopedHandler stuck(2, [&](Call&) -> Status {
      next.pass();
      return {};
    });
    OpenEndpoint& blocked = i % 2 == 0 ? a : b;
    OpenEndpoint& other = i % 2 == 0 ? b : a;
    std::jthread client([&] {
      std::uint64_t argument = 0;
      EXPECT_EQ(blocked.call(0, user(2), argument), Answer::ok);
    });
    next.await_one();
    EXPECT_TRUE(other.answers(1));
    next.open();
    client.join();
    EXPECT_TRUE(blocked.answers(1));
    EXPECT_TRUE(other.answers(0));
  }
}

}  // namespace
}  // namespace gantry::rpc
