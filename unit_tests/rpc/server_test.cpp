// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rpc_fixture.hpp"

#include <unit_tests/support/no_new_threads.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <latch>
#include <list>
#include <optional>
#include <random>
#include <vector>

namespace gantry::rpc {
namespace {

using testing::HasSubstr;

/// A client that rings its bell and cannot wake the server, as code on other hardware.
struct PlatformThatWakesNobody : HostPlatform {
  static void wake(Channel&) noexcept {}
  static void sleep(std::uint32_t&, std::uint32_t, Channel&) noexcept { std::this_thread::yield(); }
};

class ServerTest : public testing::Test {
 protected:
  void TearDown() override {
    EXPECT_EQ(server.threads(), 0);
    EXPECT_EQ(server.leases(), 0);
    await([] { return server_threads() == 0; });  // a thread that was joined may be listed for a moment
  }
  void await_sleep() {
    await([&] { return server.statistics().sleeps > m_sleeps; });
    m_sleeps = server.statistics().sleeps;
  }
  /// A call of a client that cannot wake the server.
  bool answers_unwoken(OpenEndpoint& device, std::uint32_t port) {
    std::uint64_t word = 42;
    Client<PlatformThatWakesNobody> client(device.channel(), port);
    return client.call(
               echo_opcode, 8, [&](char* to) { std::memcpy(to, &word, 8); },
               [&](const char* from) { std::memcpy(&word, from, 8); }) == Answer::ok &&
           word == 42;
  }

  Server server{{.name = "test", .on_thread_start = {}}};

 private:
  std::uint64_t m_sleeps = 0;
};

TEST_F(ServerTest, HasNoThreadBeforeTheFirstCall) {
  OpenEndpoint device(server, 2);
  device->flush();
  EXPECT_EQ(server.threads(), 0);
  EXPECT_EQ(server_threads(), 0);
  EXPECT_TRUE(device.answers(0));
  EXPECT_EQ(server.threads(), 1);
  EXPECT_EQ(server_threads(), 1);
  EXPECT_EQ(server.statistics().wake_ups, 1U);
}

TEST_F(ServerTest, HasOneThreadHoweverManyAskForIt) {
  constexpr int threads = 16;
  for (int round = 0; round < 20; ++round) {
    OpenEndpoint device(server, threads);
    std::latch start(threads);
    std::vector<std::jthread> pool;
    for (std::uint32_t t = 0; t < threads; ++t) {
      pool.emplace_back([&, t] {
        start.arrive_and_wait();
        if (t % 2 == 0) {
          EXPECT_OK(server.start());
        } else {
          EXPECT_TRUE(device.answers(t));
        }
      });
    }
    pool.clear();
    EXPECT_EQ(server.threads(), 1);
  }
}

TEST_F(ServerTest, DoesNotStartWithoutAHolder) {
  const Status status = server.start();
  EXPECT_EQ(status.code(), Code::refused);
  EXPECT_THAT(status.text(), HasSubstr("the server of test"));
  OpenEndpoint device(server);
  EXPECT_TRUE(device.answers(0));
}

TEST_F(ServerTest, StopsHoweverOftenItIsTold) {
  server.stop();
  OpenEndpoint device(server);
  for (int round = 0; round < 20; ++round) {
    EXPECT_TRUE(device.answers(0));
    std::vector<std::jthread> pool;
    for (int t = 0; t < 8; ++t) pool.emplace_back([&] { server.stop(); });
    pool.clear();
    EXPECT_EQ(server.threads(), 0);
  }
}

TEST_F(ServerTest, EndsWithItsLastHolder) {
  std::optional<OpenEndpoint> one(std::in_place, server);
  std::optional<OpenEndpoint> two(std::in_place, server);
  EXPECT_TRUE(one->answers(0));
  one.reset();
  EXPECT_EQ(server.threads(), 1);
  EXPECT_TRUE(two->answers(0));
  two.reset();
  EXPECT_EQ(server.threads(), 0);
  EXPECT_EQ(server.statistics().calls, 2U) << "also of those that left";
}

TEST_F(ServerTest, LosesNothingThatIsPostedWhileItStops) {
  OpenEndpoint device(server, 4);
  std::atomic<bool> done{false};
  std::jthread stopper([&] {
    while (!done) server.stop();
  });
  std::vector<std::jthread> pool;
  for (std::uint32_t t = 0; t < 4; ++t) {
    pool.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        EXPECT_TRUE(device.post(t, echo_opcode, std::uint64_t{0}));
        EXPECT_TRUE(device.answers(t));
      }
    });
  }
  pool.clear();
  done = true;
  stopper.join();
  device->flush();
  EXPECT_EQ(device->statistics().calls, 1600U);
}

TEST_F(ServerTest, SleepsWhileThereAreNoCalls) {
  OpenEndpoint device(server, 2);
  for (int round = 0; round < 10; ++round) {
    EXPECT_TRUE(device.answers(0));
    await_sleep();
    await([&] {  // its thread is in no state but sleeping
      for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
        std::ifstream file(thread.path() / "stat");
        std::string line;
        if (std::getline(file, line) && line.find("(gantry-rpc-") != line.npos) return line[line.rfind(')') + 2] == 'S';
      }
      return false;
    });
    EXPECT_EQ(server.statistics().wake_ups, static_cast<std::uint64_t>(round) + 1);
  }
}

TEST_F(ServerTest, CallsAtTheMomentThatItFallsAsleepAreServed) {
  Server drowsy({.name = "test", .spin = std::chrono::microseconds(0), .on_thread_start = {}});
  OpenEndpoint device(drowsy, 3);
  std::vector<std::jthread> pool;
  for (std::uint32_t t = 0; t < 3; ++t) {
    pool.emplace_back([&, t] {
      for (int i = 0; i < 500; ++i) EXPECT_TRUE(device.answers(t));
    });
  }
  pool.clear();
  EXPECT_EQ(drowsy.statistics().calls, 1500U);
}

TEST_F(ServerTest, ServesClientsThatCannotWakeItWhileALeaseIsHeld) {
  OpenEndpoint device(server, 2);
  {
    const Server::Lease lease(server);
    EXPECT_EQ(server.leases(), 1);
    for (int i = 0; i < 10; ++i) {
      await_sleep();
      EXPECT_TRUE(answers_unwoken(device, 0));
      EXPECT_TRUE(answers_unwoken(device, 1));
    }
    const Server::Lease second(server);
    EXPECT_EQ(server.leases(), 2);
  }
  EXPECT_EQ(server.leases(), 0);
  EXPECT_TRUE(device.answers(0));
}

TEST_F(ServerTest, ALeaseWakesAServerThatSleeps) {
  OpenEndpoint device(server);
  EXPECT_TRUE(device.answers(0));
  await_sleep();
  const Server::Lease lease(server);
  EXPECT_TRUE(answers_unwoken(device, 0));
}

TEST_F(ServerTest, ALeaseThatWasMovedFromHoldsNothing) {
  OpenEndpoint device(server);
  std::optional<Server::Lease> lease(std::in_place, server);
  {
    const Server::Lease moved(std::move(*lease));
    EXPECT_EQ(server.leases(), 1);
    lease.reset();
    EXPECT_EQ(server.leases(), 1);
    EXPECT_TRUE(answers_unwoken(device, 0));
  }
  EXPECT_EQ(server.leases(), 0);
}

/// Posts a call and waits for ten seconds at most until it was served.
bool serves(OpenEndpoint& device) {
  const std::uint64_t before = device->statistics().calls;
  EXPECT_TRUE(device.post(0, echo_opcode, std::uint64_t{0}));
  device->flush(std::chrono::seconds(10));
  return device->statistics().calls == before + 1;
}

TEST_F(ServerTest, ALeaseTakenBeforeThereIsADeviceHarmsNothing) {
  const Server::Lease lease(server);
  OpenEndpoint device(server);
  EXPECT_TRUE(serves(device));
  EXPECT_TRUE(serves(device));
}

TEST_F(ServerTest, ThatGetsNoThreadAbortsItsClients) {
  OpenEndpoint device(server, 2);
  device.printed.with_log();
  {
    const test::NoNewThreads none;
    std::uint64_t argument = 0;
    EXPECT_EQ(device.call(0, echo_opcode, argument), Answer::aborted);
    EXPECT_EQ(device.call(1, echo_opcode, argument), Answer::aborted);
    EXPECT_THAT(device.text(), HasSubstr("the thread that serves the calls of test devices"));
    EXPECT_EQ(server.start().code(), Code::driver_error);
  }
  OpenEndpoint later(server);  // the first one is still open
  EXPECT_TRUE(serves(later));
}

TEST_F(ServerTest, WhatNoThreadServedIsServedByTheClose) {
  OpenEndpoint device(server);
  {
    const test::NoNewThreads none;
    EXPECT_TRUE(device.print(0, "text"));
    EXPECT_EQ(device.text(), "");
  }
  EXPECT_OK(device->close(in_a_minute()));
  EXPECT_EQ(device.text(), "text");
}

TEST_F(ServerTest, StatisticsAddUp) {
  OpenEndpoint one(server, 2, "fake");
  {
    OpenEndpoint two(server, 2, "fake");
    for (std::uint32_t i = 0; i < 10; ++i) EXPECT_TRUE(two.answers(i % 2));
    std::uint64_t argument = 0;
    EXPECT_EQ(two.call(0, user(12345), argument), Answer::unknown);
  }
  for (std::uint32_t i = 0; i < 5; ++i) EXPECT_TRUE(one.answers(i % 2));
  one->flush();
  const CallStatistics all = server.statistics();
  EXPECT_EQ(all.calls, 16U);
  EXPECT_EQ(all.bytes, 16U * 8);
  EXPECT_EQ(all.failed, 1U);
  EXPECT_GE(all.wake_ups, 1U);
  EXPECT_EQ(all.hand_overs, 0U);
}

TEST_F(ServerTest, ItsThreadsRunWhereTheyAreToldAndCallWhatTheyAreTold) {
  std::atomic<int> started{0};
  std::string cpus;
  Server own({.name = "test", .on_thread_start = [&] {
                cpus = CpuSet::of_calling_thread().to_string();
                ++started;
              }});
  const int cpu = CpuSet::of_calling_thread().cpus().back();
  own.place(CpuSet({cpu}));
  OpenEndpoint device(own);
  EXPECT_TRUE(device.answers(0));
  EXPECT_EQ(started, 1);
  EXPECT_EQ(cpus, std::to_string(cpu));
}

/// Whether a test goes on: for a number of rounds, or for GANTRY_TEST_SECONDS where that is set.
class Rounds {
 public:
  explicit Rounds(int rounds) : m_rounds(rounds) {
    if (const char* seconds = std::getenv("GANTRY_TEST_SECONDS"); seconds != nullptr) {
      m_rounds = 0;
      m_end = std::chrono::steady_clock::now() + std::chrono::seconds(std::atoi(seconds));
    }
  }
  bool next() {
    if (m_rounds == 0) return std::chrono::steady_clock::now() < m_end;
    --m_rounds;
    return true;
  }

 private:
  int m_rounds;
  std::chrono::steady_clock::time_point m_end{};  // over, where only the rounds count
};

TEST_F(ServerTest, SurvivesWhateverManyThreadsDo) {
  constexpr std::uint32_t threads = 16;
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  const ScopedHandler handler(1, [&](Call&) -> Status {
    most = std::max(most.load(), ++inside);
    --inside;
    return {};
  });
  {
    OpenEndpoint device(server, threads);
    std::vector<std::jthread> pool;
    for (std::uint32_t t = 0; t < threads; ++t) {
      pool.emplace_back([&, t] {
        std::minstd_rand random(t + 1);
        std::list<OpenEndpoint> own;
        std::uint64_t argument = 0;
        for (Rounds rounds(60); rounds.next();) {
          switch (random() % 8) {
            case 0: EXPECT_OK(server.start()); break;
            case 1: server.stop(); break;
            case 2:
              if (own.size() < 3) own.emplace_back(server, 1);
              break;
            case 3:
              if (!own.empty()) own.pop_front();
              break;
            case 4: EXPECT_TRUE(own.empty() || own.back().answers(0)); break;
            case 5: {
              const Server::Lease lease(server);
              EXPECT_TRUE(device.answers(t));
              break;
            }
            case 6: EXPECT_TRUE(device.print(random() % threads, "%u\n", t)); break;
            default: EXPECT_EQ(device.call(random() % threads, user(1), argument), Answer::ok);
          }
          const int running = server.threads();
          EXPECT_LE(running, 1 + static_cast<int>(server.statistics().hand_overs));
        }
      });
    }
    pool.clear();
    device->flush();
    EXPECT_LE(most, 1) << "calls of one device are served one at a time";
  }
}

}  // namespace
}  // namespace gantry::rpc
