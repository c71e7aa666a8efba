// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rpc_fixture.hpp"

#include <gmock/gmock.h>

#include <vector>

namespace gantry::rpc {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

/// A device whose first port's call is stuck in its handler until the gate opens: nothing else of it is served.
class AbortTest : public testing::Test {
 protected:
  void SetUp() override {
    m_client = std::jthread([this] {
      std::uint64_t argument = 0;
      m_answer = device.call(0, user(1), argument);
    });
    gate.await_one();
  }
  void TearDown() override { gate.open(); }
  Answer answer_of_the_stuck_call() {
    m_client.join();
    return m_answer;
  }
  /// Waits until a client sleeps in a port.
  void await_sleeper(std::uint32_t port) {
    await([&] { return HostPlatform::load(device.channel().port(port).rare.asleep) != 0; });
  }
  void post_text(std::uint32_t port, std::string text) {
    text.resize(64, '\0');
    EXPECT_TRUE(Client<HostPlatform>(device.channel(), port).post_bytes(abort_opcode, text.data(), 64));
  }

  Gate gate;
  const ScopedHandler handler{1, [this](Call&) -> Status {
                                gate.pass();
                                return {};
                              }};
  Server server{{.name = "test", .on_thread_start = {}}};
  OpenEndpoint device{server, 6};

 private:
  Answer m_answer = Answer::ok;
  std::jthread m_client;
};

TEST_F(AbortTest, ClientsThatWaitReturn) {
  Answer answer = Answer::ok;
  bool sent = true;
  std::jthread caller([&] {
    std::uint64_t argument = 0;
    answer = device.call(1, echo_opcode, argument);
  });
  std::jthread poster([&] {
    while (sent) sent = device.post(2, echo_opcode, std::uint64_t{0});  // until the ring is full
  });
  std::jthread second([&] { EXPECT_FALSE(device.answers(1)); });  // waits for the first one's port
  await_sleeper(1);
  await_sleeper(2);
  EXPECT_TRUE(device->abort());
  caller.join();
  second.join();
  poster.join();
  EXPECT_EQ(answer, Answer::aborted);
  EXPECT_EQ(answer_of_the_stuck_call(), Answer::aborted);
  EXPECT_FALSE(sent);
  device->flush();  // returns
  gate.open();
}

TEST_F(AbortTest, WhatIsSentLaterIsCountedAndReportedOnce) {
  device.printed.with_log();
  device->abort();
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(device.post(3, echo_opcode, std::uint64_t{0}));
  EXPECT_FALSE(device.answers(4));
  EXPECT_FALSE(device.print(5, "%s", std::string(10'000, 'x').c_str())) << "one message of many records";
  gate.open();
  EXPECT_OK(device->close(in_a_minute()));
  EXPECT_THAT(device.text(), HasSubstr("7 calls of its kernels were dropped"));
  const std::string before = device.text();
  EXPECT_OK(device->close(in_a_minute()));
  EXPECT_EQ(device.text(), before);
}

TEST_F(AbortTest, NothingIsDroppedUnsaid) {
  device.printed.with_log();
  EXPECT_TRUE(device.print(1, "posted before the abort\n"));
  device->abort();
  gate.open();
  EXPECT_OK(device->close(in_a_minute()));
  EXPECT_EQ(device.text(), "posted before the abort\n") << "no call was dropped";
}

TEST_F(AbortTest, WhoWasToldThatACallWasAbortedGetsNoMemory) {
  std::uint64_t message[2] = {100, 0};
  std::jthread caller([&] { EXPECT_EQ(device.call(1, allocate_opcode, message), Answer::aborted); });
  await_sleeper(1);
  device->abort();
  caller.join();
  gate.open();
  EXPECT_OK(device->close(in_a_minute()));
  EXPECT_EQ(device.services.live(), 0U) << "nobody knows of it";
}

TEST_F(AbortTest, CloseGivesUpOnAStuckHandlerAndIsRepeatable) {
  const Status status = device->close(std::chrono::steady_clock::now());
  EXPECT_EQ(status.code(), Code::timeout);
  EXPECT_THAT(status.text(), HasSubstr("the handler of one of its calls does not return"));
  EXPECT_EQ(answer_of_the_stuck_call(), Answer::aborted);
  EXPECT_EQ(server.threads(), 1);
  gate.open();
  EXPECT_OK(device->close(in_a_minute()));
  EXPECT_EQ(server.threads(), 0);
  await([] { return server_threads() == 0; });
}

TEST_F(AbortTest, ClientsMaySendWhileTheChannelCloses) {
  std::atomic<bool> stop{false};
  std::atomic<int> refused{0};
  std::jthread poster([&] {
    while (!stop)
      if (!device.post(1, echo_opcode, std::uint64_t{0})) ++refused;
  });
  device->abort();
  gate.open();
  await([&] { return refused > 0; });
  EXPECT_OK(device->close(in_a_minute()));
  stop = true;
}

TEST_F(AbortTest, AnAbortsTextComesAfterAllEarlierLines) {
  device.printed.with_log();
  for (std::uint32_t port = 1; port < 6; ++port)
    for (int i = 0; i < 8; ++i) EXPECT_TRUE(device.print(port, "early %u\n", port));
  post_text(2, "the end");
  gate.open();
  device->flush();
  const std::string text = device.text();
  std::size_t lines = 0;
  for (std::size_t at = 0; (at = text.find("early", at)) != text.npos; ++at) ++lines;
  EXPECT_EQ(lines, 40U);
  EXPECT_THAT(text, EndsWith(device.services.name() + ": the end\n"));
  EXPECT_EQ(device->statistics().calls, 42U) << "the stuck call, the lines and the abort";
}

TEST_F(AbortTest, TextsOfSeveralAbortsAllCome) {
  device.printed.with_log();
  for (std::uint32_t port = 1; port < 6; ++port) {
    EXPECT_TRUE(device.print(port, "before %u\n", port));
    post_text(port, "end " + std::to_string(port));
    EXPECT_TRUE(device.print(port, "behind %u\n", port));
  }
  gate.open();
  device->flush();
  const std::string text = device.text();
  for (std::uint32_t port = 1; port < 6; ++port) {
    const std::string number = std::to_string(port) + "\n";
    EXPECT_LT(text.find("before " + number), text.find("end "));
    EXPECT_LT(text.find("end " + number), text.find("behind " + number));
    EXPECT_THAT(text, HasSubstr("behind " + number));
  }
}

TEST_F(AbortTest, ADeviceWithoutACallSaysSo) {
  OpenEndpoint other(server);
  EXPECT_FALSE(other->abort());
  EXPECT_FALSE(other.answers(0));
  EXPECT_EQ(other->statistics().calls, 0U);
  gate.open();
}

}  // namespace
}  // namespace gantry::rpc
