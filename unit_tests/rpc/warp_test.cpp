// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rpc_fixture.hpp"
#include "simulated_warp.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace gantry::rpc {
namespace {

using testing::HasSubstr;

/// Lanes that call together, through one port of a device whose server runs.
class WarpTest : public testing::TestWithParam<std::uint64_t> {
 protected:
  using WarpClient = Client<SimulatedWarp::Lane>;
  struct Message {
    std::uint64_t id;
    std::uint64_t number;
  };

  static Answer call(WarpClient& client, std::uint32_t number, Message& message) {
    return client.call(
        user(number), sizeof(Message), [&](char* to) { std::memcpy(to, &message, sizeof(Message)); },
        [&](const char* from) { std::memcpy(&message, from, sizeof(Message)); });
  }
  static Message message_of(const Call& call) {
    Message message{};
    EXPECT_EQ(call.payload.size(), sizeof(Message));
    std::memcpy(&message, call.payload.data(), sizeof(Message));
    return message;
  }
  static std::vector<std::uint32_t> ids(std::uint64_t mask) {
    std::vector<std::uint32_t> found;
    for (std::uint32_t id = 0; id < SimulatedWarp::size; ++id)
      if ((mask >> id & 1) != 0) found.push_back(id);
    return found;
  }

  Server server{{.name = "test", .on_thread_start = {}}};
  OpenEndpoint device{server, 2, "fake", 16, SimulatedWarp::size};
};

/// All lanes, half of them, one.
INSTANTIATE_TEST_SUITE_P(Masks, WarpTest, testing::Values(SimulatedWarp::all, 0b1010, 0b0100),
                         [](const auto& mask) { return std::to_string(std::popcount(mask.param)) + "Lanes"; });

TEST_P(WarpTest, PayloadsAreServedInTheOrderOfTheLanes) {
  constexpr std::uint64_t rounds = 150;  // some laps of the ring
  std::vector<std::pair<std::uint64_t, std::uint64_t>> seen;
  const ScopedHandler handler(1, [&](Call& call) -> Status {
    const Message message = message_of(call);
    seen.emplace_back(message.number, message.id);
    return {};
  });
  SimulatedWarp::run(GetParam(), [&](SimulatedWarp::Lane lane, std::uint32_t id) {
    WarpClient client(device.channel(), 0, lane);
    for (std::uint64_t i = 0; i < rounds; ++i) {
      const Message message{id, i};
      EXPECT_TRUE(client.post(user(1), sizeof(Message), [&](char* to) { std::memcpy(to, &message, sizeof(Message)); }));
    }
  });
  device->flush();
  std::vector<std::pair<std::uint64_t, std::uint64_t>> all;
  for (std::uint64_t i = 0; i < rounds; ++i)
    for (const std::uint32_t id : ids(GetParam())) all.emplace_back(i, id);
  EXPECT_EQ(seen, all);
  const CallStatistics counted = device->statistics();
  EXPECT_EQ(counted.calls, rounds) << "one record for all lanes";
  EXPECT_EQ(counted.bytes, all.size() * sizeof(Message));
}

TEST_P(WarpTest, EachLaneGetsItsOwnAnswer) {
  const ScopedHandler handler(1, [](Call& call) -> Status {
    Message message = message_of(call);
    message.number += 1000 * (message.id + 1);
    std::memcpy(call.payload.data(), &message, sizeof(Message));
    return {};
  });
  SimulatedWarp::run(GetParam(), [&](SimulatedWarp::Lane lane, std::uint32_t id) {
    for (int opened = 0; opened < 8; ++opened) {
      WarpClient client(device.channel(), 0, lane);
      for (std::uint64_t i = 0; i < 10; ++i) {
        Message message{id, i};
        EXPECT_EQ(call(client, 1, message), Answer::ok);
        EXPECT_EQ(message.id, id);
        EXPECT_EQ(message.number, i + 1000 * (id + 1));
      }
    }
  });
}

TEST_P(WarpTest, BytesOfAnyLengthArriveWholeForEachLane) {
  std::vector<std::string> got;
  const ScopedHandler handler(1, [&](Call& call) -> Status {
    got.emplace_back(call.payload.data(), call.payload.size());
    return {};
  });
  const std::vector<std::uint32_t> lanes = ids(GetParam());
  const std::uint32_t limit = device.channel().max_payload(static_cast<std::uint32_t>(lanes.size()));
  const std::vector<std::array<std::uint32_t, SimulatedWarp::size>> lengths{
      {0, 0, 0, 0},
      {1, 2, 3, 4},
      {0, 0, 0, 9},
      {40, 24, 1, 0},
      {limit, limit - 1, limit - 8, limit},
      {limit + 1, 0, limit, 5},
      {0, 3 * limit + 3, limit + limit / 2, 7},
      {10'000, 20'000, 30'000, 4},
  };
  for (const auto& bytes : lengths) {
    std::array<std::string, SimulatedWarp::size> sent;
    std::size_t longest = 0;
    for (const std::uint32_t id : lanes) {
      for (std::size_t i = 0; i < bytes[id]; ++i) sent[id] += static_cast<char>(id * 61 + i * 7 + i / 251);
      longest = std::max(longest, sent[id].size());
    }
    got.clear();
    SimulatedWarp::run(GetParam(), [&](SimulatedWarp::Lane lane, std::uint32_t id) {
      WarpClient client(device.channel(), 0, lane);
      EXPECT_TRUE(client.post_bytes(user(1), sent[id].data(), bytes[id]));
    });
    device->flush();
    ASSERT_EQ(got.size(), lanes.size());
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      std::string padded = sent[lanes[i]];
      padded.resize((longest + 7) / 8 * 8, '\0');
      EXPECT_TRUE(got[i] == padded) << "lane " << lanes[i] << ": " << bytes[lanes[i]] << " bytes";
    }
  }
}

TEST_P(WarpTest, WhatFailsInOneLaneFailsInAll) {
  device.printed.with_log();
  const std::uint64_t last = ids(GetParam()).back();
  std::vector<std::uint64_t> served;
  const ScopedHandler handler(1, [&](Call& call) -> Status {
    served.push_back(message_of(call).id);
    if (served.back() == last) return Status::error(Code::invalid_argument, "not for the last one");
    return {};
  });
  SimulatedWarp::run(GetParam(), [&](SimulatedWarp::Lane lane, std::uint32_t id) {
    WarpClient client(device.channel(), 0, lane);
    Message message{id, 1};
    EXPECT_EQ(call(client, 1, message), Answer::failed);
    EXPECT_EQ(call(client, 2, message), Answer::unknown);
    EXPECT_EQ(message.number, 1U);
  });
  device->flush();
  EXPECT_THAT(served, testing::ElementsAreArray(ids(GetParam())));
  EXPECT_THAT(device.text(), HasSubstr("not for the last one"));
}

TEST_P(WarpTest, AllLanesLearnOfAnAbort) {
  Gate gate;
  const ScopedHandler handler(1, [&](Call&) -> Status {
    gate.pass();
    return {};
  });
  std::jthread aborter([&] {
    gate.await_one();
    device->abort();
  });
  SimulatedWarp::run(GetParam(), [&](SimulatedWarp::Lane lane, std::uint32_t id) {
    WarpClient client(device.channel(), 0, lane);
    Message message{id, 7};
    EXPECT_EQ(call(client, 1, message), Answer::aborted) << "its handler has not returned";
    EXPECT_EQ(call(client, 1, message), Answer::aborted);
    EXPECT_EQ(message.number, 7U);
    EXPECT_FALSE(client.post(user(1), sizeof(Message), [](char*) { ADD_FAILURE() << "nothing is sent"; }));
    EXPECT_FALSE(client.post_bytes(user(1), "1234567", id));
  });
  EXPECT_EQ(device.channel().port(0).client.dropped, 3U) << "the first was sent";
  gate.open();
}

/// Parts of a warp that went different ways share its port.
TEST_F(WarpTest, DivergedLanesOpenThePortInTurn) {
  std::vector<std::uint64_t> seen;
  const ScopedHandler handler(1, [&](Call& call) -> Status {
    Message message = message_of(call);
    seen.push_back(message.id);
    message.number = ~message.number;
    std::memcpy(call.payload.data(), &message, sizeof(Message));
    return {};
  });
  constexpr std::uint64_t rounds = 40;
  const auto body = [&](SimulatedWarp::Lane lane, std::uint32_t id) {
    for (std::uint64_t i = 0; i < rounds; ++i) {
      WarpClient client(device.channel(), 0, lane);
      Message message{id, i};
      EXPECT_EQ(call(client, 1, message), Answer::ok);
      EXPECT_EQ(message.number, ~i);
    }
  };
  std::vector<std::jthread> parts;
  for (const std::uint64_t mask : {0b0101, 0b0010, 0b1000})
    parts.emplace_back([&body, mask] { SimulatedWarp::run(mask, body); });
  parts.clear();
  device->flush();
  EXPECT_EQ(seen.size(), rounds * SimulatedWarp::size);
  for (std::size_t i = 0; i < seen.size(); ++i)
    EXPECT_TRUE(seen[i] != 0 || (i + 1 < seen.size() && seen[i + 1] == 2)) << "lanes 0 and 2 call together";
}

TEST_F(WarpTest, OneLaneCallsWhileTheOthersDoNot) {
  const ScopedHandler handler(1, [](Call& call) -> Status {
    Message message = message_of(call);
    message.number += message.id;
    std::memcpy(call.payload.data(), &message, sizeof(Message));
    return {};
  });
  SimulatedWarp::run(SimulatedWarp::all, [&](SimulatedWarp::Lane lane, std::uint32_t id) {
    SimulatedWarp::Branch alone(1U << id);
    const auto calls = [&](SimulatedWarp::Lane as, std::uint64_t number) {
      WarpClient client(device.channel(), 0, as);
      Message message{id, number};
      EXPECT_EQ(call(client, 1, message), Answer::ok);
      EXPECT_EQ(message.number, number + id);
    };
    for (std::uint64_t i = 0; i < 40; ++i) {
      if (i % SimulatedWarp::size == id) calls(SimulatedWarp::Lane(alone, 0), i);
      if (i % 10 != 0) continue;
      lane.sync();  // they come together again
      calls(lane, i);
    }
  });
  device->flush();
  EXPECT_EQ(device->statistics().calls, 44U);
}

}  // namespace
}  // namespace gantry::rpc
