// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <unit_tests/rpc/rpc_fixture.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

namespace gantry::rpc {
namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr std::uint64_t calls = 200'000;
#else
constexpr std::uint64_t calls = 10'000'000;
#endif
constexpr std::uint32_t clients = 2;
constexpr std::uint32_t number = 4711;

TEST(SoakTest, TenMillionCallsAreServedOnceAndInOrder) {
  std::vector<std::uint64_t> next(clients, 0);
  std::uint64_t wrong = 0;
  const ScopedHandler handler(number, [&](Call& call) {
    std::uint64_t words[2];
    std::memcpy(words, call.payload.data(), sizeof(words));
    if (next[words[0]]++ != words[1]) ++wrong;
    return Status();
  });
  Server server({.name = "soak"});
  OpenEndpoint endpoint(server, clients);
  std::atomic<std::uint64_t> unanswered{0};
  std::vector<std::thread> threads;
  for (std::uint32_t client = 0; client < clients; ++client) {
    threads.emplace_back([&, client] {
      for (std::uint64_t i = 0; i < calls / clients; ++i) {
        std::array<std::uint64_t, 2> words{client, i};
        const bool waits = i % 1000 == 999;
        const bool sent = waits ? endpoint.call(client, user(number), words) == Answer::ok
                                : endpoint.post(client, user(number), words);
        if (!sent) ++unanswered;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  endpoint->flush();
  EXPECT_EQ(unanswered, 0U);
  EXPECT_EQ(wrong, 0U);
  for (const std::uint64_t served : next) EXPECT_EQ(served, calls / clients);
  EXPECT_EQ(endpoint->statistics().calls, calls);
}

}  // namespace
}  // namespace gantry::rpc
