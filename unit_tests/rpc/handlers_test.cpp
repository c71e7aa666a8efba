// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rpc_fixture.hpp"

#include <gantry/device/printf.hpp>

#include <gmock/gmock.h>

#include <array>
#include <cstdio>
#include <vector>

namespace gantry::rpc {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Handler returning(std::uint64_t value) {
  return [value](Call& call) -> Status {
    std::memcpy(call.payload.data(), &value, sizeof(value));
    return {};
  };
}

class HandlersTest : public testing::Test {
 protected:
  /// What the handler of a call answers; 0 when there is none.
  static std::uint64_t ask(OpenEndpoint& device, std::uint32_t number) {
    std::uint64_t value = 0;
    const Answer answer = device.call(0, user(number), value);
    EXPECT_TRUE(answer == Answer::ok || answer == Answer::unknown);
    return value;
  }

  Server server{{.name = "test", .on_thread_start = {}}};
  OpenEndpoint device{server, 2, "fake"};
};

TEST_F(HandlersTest, AreAddedAndRemovedAtAnyTime) {
  EXPECT_OK(add_handler("", 1, returning(11)));  // before the first call
  EXPECT_EQ(ask(device, 1), 11U);
  EXPECT_OK(add_handler("", 2, returning(22)));
  EXPECT_EQ(ask(device, 2), 22U);
  EXPECT_OK(remove_handler("", 1));
  EXPECT_EQ(ask(device, 1), 0U);
  EXPECT_OK(add_handler("", 1, returning(111)));
  EXPECT_EQ(ask(device, 1), 111U);
  OpenEndpoint later(server);
  EXPECT_EQ(ask(later, 1), 111U);
  EXPECT_OK(remove_handler("", 1));
  EXPECT_OK(remove_handler("", 2));
}

TEST_F(HandlersTest, WhatCannotBeSaysWhy) {
  const ScopedHandler handler(1, returning(1));
  const Status busy = add_handler("", 1, returning(2));
  EXPECT_EQ(busy.code(), Code::busy);
  EXPECT_THAT(busy.text(), HasSubstr("has a handler already"));
  EXPECT_EQ(ask(device, 1), 1U);
  EXPECT_EQ(remove_handler("", 2).code(), Code::not_found);
  EXPECT_EQ(remove_handler("fake", 1).code(), Code::not_found);
  EXPECT_THAT(remove_handler("fake", 1).text(), HasSubstr("backend 'fake'"));
  EXPECT_EQ(add_handler("", 3, {}).code(), Code::invalid_argument);
  EXPECT_EQ(ask(device, 3), 0U);
  for (const std::uint32_t number : {user_numbers, ~0U}) {
    EXPECT_EQ(add_handler("", number, returning(1)).code(), Code::invalid_argument);
    EXPECT_THAT(remove_handler("", number).text(), AllOf(HasSubstr(std::to_string(number)), HasSubstr("16777216")));
  }
  const ScopedHandler last(user_numbers - 1, returning(5));
  EXPECT_EQ(ask(device, user_numbers - 1), 5U);
}

TEST_F(HandlersTest, ABackendsOwnComesBeforeTheCommonOne) {
  OpenEndpoint other(server, 1, "other");
  OpenEndpoint third(server, 1, "third");
  const ScopedHandler common(1, returning(1));
  {
    const ScopedHandler own(1, returning(2), "fake");
    const ScopedHandler others(1, returning(3), "other");
    EXPECT_EQ(ask(device, 1), 2U);
    EXPECT_EQ(ask(other, 1), 3U);
    EXPECT_EQ(ask(third, 1), 1U);
  }
  EXPECT_EQ(ask(device, 1), 1U);
  EXPECT_EQ(ask(other, 1), 1U);
}

TEST_F(HandlersTest, SeeWhoCallsAndWhat) {
  const ScopedHandler handler(0x123456, [&](Call& call) -> Status {
    EXPECT_EQ(call.device, device.services.id());
    EXPECT_EQ(call.opcode, user(0x123456));
    EXPECT_EQ(call.payload.size(), 24U);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(call.payload.data()) % 8, 0U);
    return {};
  });
  std::array<std::uint64_t, 3> argument{};
  EXPECT_EQ(device.call(0, user(0x123456), argument), Answer::ok);
}

TEST_F(HandlersTest, RemoveWaitsForTheCallInside) {
  Gate gate;
  auto held = std::make_shared<int>(1);
  std::weak_ptr<int> watched = held;
  EXPECT_OK(add_handler("", 1, [&gate, held = std::move(held)](Call&) -> Status {
    gate.pass();
    return {};
  }));
  std::jthread client([&] { ask(device, 1); });
  gate.await_one();
  std::atomic<bool> removed{false};
  std::jthread remover([&] {
    EXPECT_OK(remove_handler("", 1));
    removed = true;
  });
  await([] { return add_handler("", 1, returning(2)).ok(); });  // it is out of the table, and waits
  EXPECT_FALSE(removed);
  EXPECT_FALSE(watched.expired());
  gate.open();
  remover.join();
  client.join();
  EXPECT_EQ(ask(device, 1), 2U);
  EXPECT_TRUE(watched.expired());
  EXPECT_OK(remove_handler("", 1));
}

TEST_F(HandlersTest, WhatAHandlerHoldsHasEndedWhenItIsRemoved) {
  for (int i = 0; i < 300; ++i) {
    auto held = std::make_shared<int>(i);
    const std::weak_ptr<int> watched = held;
    Gate inside;
    EXPECT_OK(add_handler("", 1, [held = std::move(held), &inside](Call&) -> Status {
      inside.pass();
      return {};
    }));
    std::jthread client([&] { ask(device, 1); });
    inside.await_one();
    std::jthread opener([&] { inside.open(); });
    EXPECT_OK(remove_handler("", 1));
    ASSERT_TRUE(watched.expired());
  }
}

TEST_F(HandlersTest, OneRemovesItself) {
  EXPECT_OK(add_handler("", 1, [](Call& call) -> Status {
    EXPECT_OK(remove_handler("", 1));
    return returning(5)(call);
  }));
  EXPECT_EQ(ask(device, 1), 5U);
  EXPECT_EQ(ask(device, 1), 0U);
}

TEST_F(HandlersTest, OneReplacesItself) {
  EXPECT_OK(add_handler("", 1, [](Call& call) -> Status {
    EXPECT_EQ(add_handler("", 1, returning(9)).code(), Code::busy);
    EXPECT_OK(remove_handler("", 1));
    EXPECT_OK(add_handler("", 1, returning(6)));
    return returning(5)(call);
  }));
  EXPECT_EQ(ask(device, 1), 5U);
  EXPECT_EQ(ask(device, 1), 6U);
  EXPECT_OK(remove_handler("", 1));
}

/// Removes a handler when it ends.
struct RemovesAtTheEnd {
  ~RemovesAtTheEnd() { EXPECT_OK(remove_handler("", 2)); }
};

TEST_F(HandlersTest, WhatOneHoldsMayCallInAsItEnds) {
  EXPECT_OK(add_handler("", 2, returning(1)));
  EXPECT_OK(add_handler("", 1, [held = std::make_shared<RemovesAtTheEnd>()](Call&) { return Status(); }));
  EXPECT_OK(remove_handler("", 1));
  EXPECT_EQ(remove_handler("", 2).code(), Code::not_found);
  EXPECT_OK(add_handler("", 2, returning(1)));
  EXPECT_OK(add_handler("", 1, [held = std::make_shared<RemovesAtTheEnd>()](Call&) { return remove_handler("", 1); }));
  ask(device, 1);
  device->flush();
  EXPECT_EQ(remove_handler("", 2).code(), Code::not_found);
}

TEST_F(HandlersTest, AreAddedAndRemovedWhileOthersCall) {
  std::atomic<bool> stop{false};
  std::jthread caller([&] {
    while (!stop) {
      const std::uint64_t value = ask(device, 1);
      EXPECT_TRUE(value == 0 || value == 1 || value == 2);
    }
  });
  std::vector<std::jthread> pool;
  for (std::uint64_t t = 1; t <= 2; ++t) {
    pool.emplace_back([t] {
      const std::string backend = t == 1 ? "" : "fake";
      for (int i = 0; i < 300; ++i) {
        EXPECT_OK(add_handler(backend, 1, returning(t)));
        EXPECT_OK(remove_handler(backend, 1));
      }
    });
  }
  pool.clear();
  stop = true;
}

TEST_F(HandlersTest, OneThatPrintsWritesToTheStandardOutput) {
  const ScopedHandler handler(1, [](Call&) -> Status {
    gantry::printf("on the host %d\n", 42);
    return {};
  });
  testing::internal::CaptureStdout();
  ask(device, 1);
  std::fflush(stdout);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "on the host 42\n");
  EXPECT_EQ(device.text(), "");
}

TEST_F(HandlersTest, OnesOfGantrysOwnCallsComeFirst) {
  EXPECT_OK(impl::add_handler("fake", echo_opcode, returning(3)));
  std::uint64_t value = 0;
  EXPECT_EQ(device.call(0, echo_opcode, value), Answer::ok);
  EXPECT_EQ(value, 3U);
  EXPECT_OK(impl::remove_handler("fake", echo_opcode));
  EXPECT_TRUE(device.answers(0));
}

}  // namespace
}  // namespace gantry::rpc
