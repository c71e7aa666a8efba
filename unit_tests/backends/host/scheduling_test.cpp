// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <unit_tests/backends/host/host_fixture.hpp>

#include <sys/resource.h>

#include <latch>
#include <mutex>

namespace gantry::test {
namespace {

/// A kernel that is known to take long, however short its last runs were.
template <class Function>
const KernelInfo& slow_kernel(const Function& function) {
  const KernelInfo& kernel = kernel_of(function);
  kernel.cost.samples = 100;
  kernel.cost.ns_per_item = 1e6F;
  return kernel;
}

/// The threads that ran shares.
class Threads {
 public:
  void add() {
    const std::lock_guard lock(m_mutex);
    m_ids.insert(std::this_thread::get_id());
  }
  [[nodiscard]] bool has_me() {
    const std::lock_guard lock(m_mutex);
    return m_ids.contains(std::this_thread::get_id());
  }
  [[nodiscard]] std::size_t count() {
    const std::lock_guard lock(m_mutex);
    return m_ids.size();
  }

 private:
  std::mutex m_mutex;
  std::set<std::thread::id> m_ids;
};

TEST(SchedulingTest, UsesEverySlotWithoutAFence) {
  SKIP_IF_PAGES();
  for (const int slots : {1, 2, 4}) {
    OpenHost host(slots);
    Queue& queue = host.queue();
    for (int repetition = 0; repetition < 50; ++repetition) {  // threads that have just started need no wake
      std::atomic<int> inside{0};
      // Each share waits for all others to run at the same time: fewer threads than slots would never end.
      const auto body = [&, slots](HostWorker&) {
        ++inside;
        await([&] { return inside >= slots; });
      };
      EXPECT_OK(queue.launch(slow_kernel(body), items(slots), &body));
      await([&] { return queue.idle(); });
      EXPECT_EQ(inside, slots);
    }
  }
}

TEST(SchedulingTest, UsesEverySlotWithAFence) {
  for (const int slots : {2, 4}) {
    OpenHost host(slots);
    Queue& queue = host.queue();
    for (int repetition = 0; repetition < 100; ++repetition) {
      std::atomic<int> inside{0};
      Threads threads;
      const auto body = [&, slots](HostWorker&) {
        threads.add();
        ++inside;
        await([&] { return inside >= slots; });
      };
      EXPECT_OK(queue.launch(slow_kernel(body), items(slots), &body));
      EXPECT_OK(queue.sync());
      EXPECT_EQ(threads.count(), static_cast<std::size_t>(slots));
    }
  }
}

TEST(SchedulingTest, ProgressesWithoutAFence) {
  for (const int slots : {1, 2, 3}) {
    OpenHost host(slots);
    Queue& queue = host.queue();
    for (int i = 0; i < 200; ++i) {
      EXPECT_OK(for_each(queue, 1000, [](auto) {}));
      await([&] { return queue.idle(); });
    }
  }
}

TEST(SchedulingTest, TinyKernelsRunOnTheLaunchingThreadOnTheCallersBody) {
  OpenHost host(2);
  Queue& queue = host.queue();
  const auto body = [](HostWorker&) {};
  const KernelInfo& kernel = kernel_of(body);
  for (int i = 0; i < 10; ++i) {
    EXPECT_OK(queue.launch(kernel, items(64), &body));  // learns that it is tiny
    EXPECT_OK(queue.sync());
  }
  static std::atomic<const void*> address{nullptr};
  static Threads threads;
  KernelInfo tiny{.type = "tiny",
                  .size = 8,
                  .align = 8,
                  .host = [](const void* b, HostWorker&) { address = b, threads.add(); },
                  .cost = {}};
  tiny.cost.samples = 100;
  const std::uint64_t here = 0;
  EXPECT_OK(queue.launch(tiny, items(64), &here));
  EXPECT_EQ(address, &here);
  EXPECT_TRUE(threads.has_me());
  EXPECT_TRUE(queue.idle());
}

TEST(SchedulingTest, LongKernelsAreSpreadEvenWithFewItems) {
  SKIP_IF_PAGES();
  OpenHost host(2);
  Queue& queue = host.queue();
  std::atomic<int> inside{0};
  const auto body = [&](HostWorker&) {
    ++inside;
    await([&] { return inside >= 2; });
  };
  EXPECT_OK(queue.launch(slow_kernel(body), items(64), &body));
  EXPECT_OK(queue.sync());
  EXPECT_EQ(inside, 2);
}

TEST(SchedulingTest, HeavyKernelsNeverRunOnTheCaller) {
  SKIP_IF_PAGES();
  for (const int slots : {1, 2}) {
    OpenHost host(slots);
    Queue& queue = host.queue();
    for (int i = 0; i < 20; ++i) {
      Threads threads;
      std::atomic<bool> go{false};
      const auto body = [&](HostWorker&) {
        threads.add();
        await([&] { return go.load(); });
      };
      EXPECT_OK(queue.launch(kernel_of(body), items(64, true), &body));
      go = true;  // a kernel that waits for its launching thread must not run on it
      EXPECT_OK(queue.sync());
      EXPECT_FALSE(threads.has_me());
    }
  }
}

TEST(SchedulingTest, StrictKernelsNeverRunOnTheCaller) {
  host::EngineOptions options = host_options(2);
  options.strict = true;
  OpenHost host(options);
  Queue& queue = host.queue();
  Threads threads;
  for (int i = 0; i < 50; ++i) EXPECT_OK(for_each(queue, 3, [&](auto) { threads.add(); }));
  EXPECT_OK(queue.sync());
  EXPECT_FALSE(threads.has_me());
}

TEST(SchedulingTest, BlockingLaunchesWait) {
  host::EngineOptions options = host_options(2);
  options.blocking = true;
  OpenHost host(options);
  Queue& queue = host.queue();
  std::atomic<int> ran{0};
  for (int i = 1; i <= 20; ++i) {
    EXPECT_OK(for_each(queue, 2, [&](auto) { ++ran; }));
    EXPECT_EQ(ran, 2 * i);
    EXPECT_TRUE(queue.idle());
  }
}

TEST(SchedulingTest, QueuesRunAtTheSameTime) {
  SKIP_IF_PAGES();
  OpenHost host(2);
  Queue& first = host.queue();
  Queue& second = host.queue();
  std::atomic<bool> second_ran{false};
  std::atomic<bool> first_runs{false};
  EXPECT_OK(for_each(first, items(1, true), [&](auto) {
    first_runs = true;
    await([&] { return second_ran.load(); });
  }));
  await([&] { return first_runs.load(); });
  EXPECT_OK(for_each(second, items(1, true), [&](auto) { second_ran = true; }));
  EXPECT_OK(first.sync());
  EXPECT_OK(second.sync());
}

TEST(SchedulingTest, NoTwoThreadsHaveOneSlot) {
  for (const int slots : {1, 2, 3}) {
    OpenHost host(slots);
    std::vector<std::atomic<int>> inside(static_cast<std::size_t>(slots));
    std::atomic<int> collisions{0};
    const auto body = [&](HostWorker& worker) {
      std::atomic<int>& mine = inside[worker.slot];
      if (mine.fetch_add(1) != 0) ++collisions;
      for (int i = 0; i < 100; ++i) mine.load();
      mine.fetch_sub(1);
    };
    std::vector<Queue*> queues;
    for (int t = 0; t < 4; ++t) queues.push_back(&host.queue());
    std::vector<std::jthread> threads;
    for (Queue* queue : queues) {
      threads.emplace_back([&, queue] {
        for (int i = 0; i < 300; ++i) {
          EXPECT_OK(queue->launch(kernel_of(body), items(1 + i % 5), &body));
          if (i % 3 == 0) EXPECT_OK(queue->sync());
        }
        EXPECT_OK(queue->sync());
      });
    }
    threads.clear();
    EXPECT_EQ(collisions, 0);
  }
}

TEST(SchedulingTest, FullQueueWhoseKernelWaitsForTheHostDoesNotDeadlock) {
  SKIP_IF_PAGES();
  OpenHost host(2);
  Queue& queue = host.queue();
  std::atomic<bool> go{false};
  std::atomic<int> ran{0};
  EXPECT_OK(for_each(queue, items(1, true), [&](auto) { await([&] { return go.load(); }); }));
  for (int i = 0; i < 1030; ++i) EXPECT_OK(for_each(queue, 1, [&](auto) { ++ran; }));
  EXPECT_EQ(ran, 0);
  go = true;
  EXPECT_OK(queue.sync());
  EXPECT_EQ(ran, 1030);
}

/// How often the calling thread has gone to sleep.
long sleeps() {
  rusage usage{};
  EXPECT_EQ(getrusage(RUSAGE_THREAD, &usage), 0);
  return usage.ru_nvcsw;
}

TEST(SchedulingTest, FullQueueThatStallsHoldsUpOneLaunchUntilSomethingCompletes) {
  SKIP_IF_PAGES();
  host::EngineOptions options = host_options(2);
  options.spin = std::chrono::nanoseconds(0);  // who waits, sleeps
  OpenHost host(options);
  Queue& queue = host.queue();
  std::atomic<int> gate{0};
  std::atomic<int> runs{0};
  constexpr long launches = 100;
  const auto sleeps_of_launches = [&] {
    const long before = sleeps();
    for (long i = 0; i < launches; ++i) EXPECT_OK(for_each(queue, 1, [](auto) {}));
    return sleeps() - before;
  };
  for (int i = 1; i <= 2; ++i) {
    EXPECT_OK(for_each(queue, items(1, true), [&, i](auto) {
      runs = i;
      await([&] { return gate >= i; });
    }));
  }
  for (int i = 0; i < 1030; ++i) EXPECT_OK(for_each(queue, 1, [](auto) {}));
  for (int i = 1; i <= 2; ++i) {
    EXPECT_LT(sleeps_of_launches(), launches / 2) << "some for what the system does, none for room";
    if (i == 2) break;
    gate = 1;
    await([&] { return runs == 2; });
    const long before = sleeps();
    EXPECT_OK(for_each(queue, 1, [](auto) {}));
    EXPECT_GE(sleeps() - before, 1) << "something has completed: the next launch waits for room again";
  }
  gate = 2;
  EXPECT_OK(queue.sync());
}

TEST(SchedulingTest, FencingThreadRunsNoOtherQueuesWork) {
  SKIP_IF_PAGES();
  OpenHost host(2);
  Queue& mine = host.queue();
  Queue& other = host.queue();
  Threads threads;
  std::atomic<bool> go{false};
  EXPECT_OK(for_each(other, items(1, true), [&](auto) { await([&] { return go.load(); }); }));
  EXPECT_OK(for_each(other, 1000, [&](auto) { threads.add(); }));
  EXPECT_OK(for_each(mine, 1000, [](auto) {}));
  EXPECT_OK(mine.sync());
  go = true;
  await([&] { return other.idle(); });
  EXPECT_FALSE(threads.has_me());
}

}  // namespace
}  // namespace gantry::test
