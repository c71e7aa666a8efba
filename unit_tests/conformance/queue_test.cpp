// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/core/execution_context.hpp>
#include <unit_tests/conformance/device_fixture.hpp>

#include <gmock/gmock.h>

#include <atomic>
#include <numeric>
#include <stdexcept>
#include <thread>

namespace gantry::test {
namespace {

class QueueTest : public DeviceFixture {};
GANTRY_CONFORMANCE(QueueTest);

/// Counts its copies that live, and all there ever were.
struct Counted {
  struct Counts {
    std::atomic<int> live{0};
    std::atomic<int> made{0};
  };
  explicit Counted(Counts& counts) : m_counts(&counts) { add(); }
  Counted(const Counted& other) : m_counts(other.m_counts) { add(); }
  ~Counted() { m_counts->live.fetch_sub(1); }

 private:
  void add() {
    m_counts->live.fetch_add(1);
    m_counts->made.fetch_add(1);
  }
  Counts* m_counts;
};

TEST_P(QueueTest, RunsEveryItemOnce) {
  Queue& queue = make_queue();
  for (const std::int64_t count : {0, 1, 2, 3, 64, 1000, 200000}) {
    for (const Schedule schedule : {Schedule::fixed, Schedule::dynamic}) {
      int* items = allocate<int>(static_cast<std::size_t>(count) + 1);
      const int zero = 0;
      EXPECT_OK(queue.fill(items, &zero, sizeof(int), static_cast<std::size_t>(count) + 1));
      Launch launch;
      launch.count = count;
      launch.schedule = schedule;
      for (int repetition = 0; repetition < 3; ++repetition)
        EXPECT_OK(for_each(queue, launch, [=](auto i) { ++items[i]; }));
      std::vector<int> expected(static_cast<std::size_t>(count), 3);
      expected.push_back(0);
      EXPECT_EQ(read(queue, items, expected.size()), expected);
    }
  }
}

TEST_P(QueueTest, RunsInOrder) {
  Queue& queue = make_queue();
  auto* value = allocate<std::uint64_t>(1);
  const std::uint64_t start = 1;
  EXPECT_OK(queue.write(value, &start, sizeof(start)));
  std::uint64_t expected = start;
  for (std::uint64_t i = 0; i < 3000; ++i) {
    if (i % 3 == 0) {
      EXPECT_OK(for_each(queue, 1, [=](auto) { *value = *value * 3 + i; }));
      expected = expected * 3 + i;
    } else {
      EXPECT_OK(for_each(queue, 2, [=](auto item) {
        if (item == 1) *value += i;
      }));
      expected += i;
    }
  }
  EXPECT_EQ(read(queue, value, 1).front(), expected);
}

TEST_P(QueueTest, TakesLaunchesOfManyThreads) {
  Queue& queue = make_queue();
  auto* value = allocate<int>(1);
  const int zero = 0;
  EXPECT_OK(queue.fill(value, &zero, sizeof(int), 1));
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        EXPECT_OK(for_each(queue, 1, [=](auto) { ++*value; }));  // a race unless kernels of a queue exclude each other
        if (i % 100 == 0) EXPECT_OK(queue.sync());
      }
    });
  }
  threads.clear();
  EXPECT_EQ(read(queue, value, 1).front(), 2000);
}

TEST_P(QueueTest, DestroysEveryBodyItCopied) {
  Queue& queue = make_queue();
  Counted::Counts counts;
  struct alignas(128) Large {
    char bytes[1024] = {};
  };
  {
    const Counted counted(counts);
    for (int i = 0; i < 50; ++i) {
      EXPECT_OK(for_each(queue, 64, [counted](auto) {}));
      EXPECT_OK(for_each(queue, 64, [counted, large = Large()](auto) { EXPECT_EQ(large.bytes[5], 0); }));
    }
    EXPECT_OK(queue.sync());
  }
  EXPECT_EQ(counts.live, 0);
  EXPECT_GE(counts.made, 101);
}

TEST_P(QueueTest, BodyOutlivesTheLaunch) {
  SKIP_IF_BLOCKING();
  Queue& queue = make_queue();
  Gate gate;
  gate.close(queue);
  Counted::Counts counts;
  auto* seen = allocate<int>(1);
  {
    const Counted counted(counts);
    EXPECT_OK(for_each(queue, 1, [=, &counts, copy = counted](auto) { *seen = counts.live; }));
  }
  EXPECT_EQ(counts.live, 1);
  gate.open();
  EXPECT_EQ(read(queue, seen, 1).front(), 1);
  EXPECT_EQ(counts.live, 0);
}

TEST_P(QueueTest, CopiesBetweenHostAndDevice) {
  Queue& queue = make_queue();
  for (const std::size_t count : {1, 100, 5000, 3000001}) {
    std::vector<int> source(count);
    std::iota(source.begin(), source.end(), 7);
    int* first = allocate<int>(count);
    int* second = allocate<int>(count + 1) + 1;  // not aligned for vectors
    EXPECT_OK(queue.copy(first, source.data(), count * sizeof(int)));
    EXPECT_OK(queue.copy(second, first, count * sizeof(int)));
    EXPECT_EQ(read(queue, second, count), source);
  }
}

TEST_P(QueueTest, WriteReadsItsSourceAtOnce) {
  SKIP_IF_BLOCKING();
  Queue& queue = make_queue();
  for (const std::size_t count : {1, 10, 100000}) {
    int* target = allocate<int>(count);
    Gate gate;
    gate.close(queue);
    std::vector<int> source(count, 42);
    EXPECT_OK(queue.write(target, source.data(), count * sizeof(int)));
    std::fill(source.begin(), source.end(), 0);
    gate.open();
    EXPECT_EQ(read(queue, target, count), std::vector<int>(count, 42));
  }
}

TEST_P(QueueTest, FillsWithPatternsOfAnySize) {
  Queue& queue = make_queue();
  for (const std::size_t size : {1, 2, 3, 4, 8, 12, 16, 24, 32, 64, 100}) {
    for (const std::size_t count : {1, 5, 1000}) {
      for (const std::size_t offset : {0, 1, 8}) {
        std::vector<unsigned char> pattern(size);
        std::iota(pattern.begin(), pattern.end(), static_cast<unsigned char>(size));
        unsigned char* target = allocate<unsigned char>(size * count + 32);
        const unsigned char edge = 0xee;
        EXPECT_OK(queue.fill(target, &edge, 1, size * count + 32));
        EXPECT_OK(queue.fill(target + offset, pattern.data(), size, count));
        std::vector<unsigned char> expected(offset, edge);
        for (std::size_t i = 0; i < count; ++i) expected.insert(expected.end(), pattern.begin(), pattern.end());
        expected.resize(size * count + 32, edge);
        EXPECT_EQ(read(queue, target, expected.size()), expected) << size << " x " << count << " at " << offset;
      }
    }
  }
}

TEST_P(QueueTest, FillsMuchMemory) {
  Queue& queue = make_queue();
  constexpr std::size_t count = (std::size_t{9} << 20) / sizeof(double) + 3;
  for (const std::size_t offset : {0, 1}) {
    double* target = allocate<double>(count + 2);
    const double value = 1.5;
    const double edge = -1;
    EXPECT_OK(queue.fill(target, &edge, sizeof(double), count + 2));
    EXPECT_OK(queue.fill(target + offset, &value, sizeof(double), count));
    std::vector<double> expected(count + 2, edge);
    std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(offset), count, value);
    EXPECT_EQ(read(queue, target, count + 2), expected);
  }
}

TEST_P(QueueTest, EmptyTransfersDoNothing) {
  Queue& queue = make_queue();
  const int pattern = 1;
  EXPECT_OK(queue.copy(nullptr, nullptr, 0));
  EXPECT_OK(queue.write(nullptr, nullptr, 0));
  EXPECT_OK(queue.fill(nullptr, &pattern, sizeof(pattern), 0));
  EXPECT_OK(queue.sync());
}

TEST_P(QueueTest, RunsHostFunctionsInOrderOnAnotherThread) {
  SKIP_IF_BLOCKING();
  Queue& queue = make_queue();
  struct Seen {
    int* value;
    int in_function = 0;
    bool context = false;
    std::thread::id thread;
  } seen{};
  int pinned = 0;
  seen.value = &pinned;
  EXPECT_OK(for_each(queue, 1, [&pinned](auto) { pinned = 1; }));
  EXPECT_OK(queue.host_function(
      [](void* argument) {
        auto& s = *static_cast<Seen*>(argument);
        s.in_function = *s.value;
        s.thread = std::this_thread::get_id();
        s.context =
            execution_context() != nullptr && execution_context()->kind == ExecutionContext::Kind::host_function;
        *s.value = 2;
      },
      &seen));
  int after = 0;
  EXPECT_OK(for_each(queue, 1, [&pinned, &after](auto) { after = pinned; }));
  EXPECT_OK(queue.sync());
  EXPECT_EQ(seen.in_function, 1);
  EXPECT_EQ(after, 2);
  EXPECT_TRUE(seen.context);
  EXPECT_NE(seen.thread, std::this_thread::get_id());
}

TEST_P(QueueTest, IsIdleWhenNothingIsUnfinished) {
  SKIP_IF_BLOCKING();
  Queue& queue = make_queue();
  EXPECT_TRUE(queue.idle());
  Gate gate;
  gate.close(queue);
  EXPECT_FALSE(queue.idle());
  gate.open();
  EXPECT_OK(queue.sync());
  EXPECT_TRUE(queue.idle());
}

TEST_P(QueueTest, JoinsSharesInOrder) {
  SKIP_UNLESS_IT_JOINS();
  Queue& queue = make_queue();
  for (const std::int64_t count : {0, 1, 2, 64, 1000, 300000}) {
    std::int64_t first = -1;
    for (int repetition = 0; repetition < 6; ++repetition) {
      std::int64_t result = -1;
      Launch launch;
      launch.count = count;
      launch.share_scratch = sizeof(std::int64_t);
      launch.result = &result;
      launch.result_bytes = sizeof(result);
      EXPECT_OK(launch_joined(
          queue, launch,
          [](HostWorker& worker) {
            std::int64_t sum = 0;
            for (WorkRange piece; worker.next(piece);) {
              for (auto i = piece.begin; i < piece.end; ++i) sum += i * worker.share;  // tells how it was cut
            }
            *static_cast<std::int64_t*>(worker.scratch) = sum;
          },
          [count](const HostJoin& join) {
            std::int64_t sum = 0;
            for (std::uint32_t s = 0; count > 0 && s < join.shares; ++s)
              sum = sum * 3 + *static_cast<std::int64_t*>(join.share_scratch(s));
            *static_cast<std::int64_t*>(join.result) = sum;
          }));
      EXPECT_OK(queue.sync());
      if (repetition == 0) first = result;
      EXPECT_EQ(result, first) << "not the same in every run";
    }
    if (count == 0) {
      EXPECT_EQ(first, 0);
    }
  }
}

TEST_P(QueueTest, RunsPhasesOneAfterTheOther) {
  SKIP_UNLESS_IT_JOINS();
  Queue& queue = make_queue();
  for (const std::int64_t count : {0, 1, 100, 100000}) {
    auto* data = allocate<std::int64_t>(static_cast<std::size_t>(count) + 1);
    Launch launch;
    launch.count = count;
    launch.phases = 2;
    launch.share_scratch = sizeof(std::int64_t);
    for (int repetition = 0; repetition < 6; ++repetition) {
      std::atomic<int> joins{0};
      EXPECT_OK(launch_joined(
          queue, launch,
          [data](HostWorker& worker) {
            auto& value = *static_cast<std::int64_t*>(worker.scratch);
            std::int64_t sum = worker.phase == 0 ? 0 : value;
            for (WorkRange piece; worker.next(piece);) {
              for (auto i = piece.begin; i < piece.end; ++i) {
                sum += i;
                if (worker.phase == 1) data[i] = sum;
              }
            }
            if (worker.phase == 0) value = sum;
          },
          [count, &joins](const HostJoin& join) {
            EXPECT_EQ(join.phase, static_cast<std::uint32_t>(joins++));
            std::int64_t before = 0;
            for (std::uint32_t s = 0; count > 0 && join.phase == 0 && s < join.shares; ++s)
              before += std::exchange(*static_cast<std::int64_t*>(join.share_scratch(s)), before);
          }));
      EXPECT_OK(queue.sync());
      EXPECT_EQ(joins, 2);
    }
    std::vector<std::int64_t> expected(static_cast<std::size_t>(count));
    std::iota(expected.begin(), expected.end(), 0);
    std::partial_sum(expected.begin(), expected.end(), expected.begin());
    EXPECT_EQ(read(queue, data, expected.size()), expected);
  }
}

TEST_P(QueueTest, TellsKernelsWhereTheyRun) {
  Queue& queue = make_queue();
  for (int repetition = 0; repetition < 6; ++repetition) {
    std::atomic<int> wrong{0};
    const auto slots = static_cast<std::uint32_t>(device().concurrency());
    const auto body = [&, slots](HostWorker& worker) {
      const ExecutionContext* context = execution_context();
      if (context == nullptr || context->kind != ExecutionContext::Kind::kernel || context->queue != &queue ||
          context->slot != worker.slot || worker.slot >= slots)
        ++wrong;
    };
    Launch launch;
    launch.count = 64;
    EXPECT_OK(queue.launch(kernel_of(body), launch, &body));
    EXPECT_OK(queue.sync());
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(execution_context(), nullptr);
  }
}

TEST_P(QueueTest, DefersToTheEndOfAKernel) {
  Queue& queue = make_queue();
  for (int repetition = 0; repetition < 6; ++repetition) {
    std::atomic<int> deferred{0};
    std::atomic<int> seen_early{0};
    std::atomic<int> seen_behind{0};
    EXPECT_OK(for_each(queue, 64, [&](auto) {
      ExecutionContext& context = *execution_context();
      context.defer(
          context, [](void* n) { ++*static_cast<std::atomic<int>*>(n); }, &deferred);
      seen_early += deferred;
    }));
    EXPECT_OK(for_each(queue, 1, [&](auto) { seen_behind = deferred.load(); }));
    EXPECT_OK(queue.sync());
    EXPECT_EQ(deferred, 64);
    EXPECT_EQ(seen_early, 0);
    EXPECT_EQ(seen_behind, 64);
  }
}

TEST_P(QueueTest, KernelErrorNamesTheKernelAndPoisonsItsDevice) {
  Queue& queue = make_queue();
  Queue& other = make_queue(1);
  m_drains = false;
  Launch launch;
  launch.count = 4;
  launch.label = "the second";
  Counted::Counts counts;
  {
    const Counted counted(counts);
    EXPECT_OK(for_each(queue, 4, [](auto) {}));
    queue.sync().ignore();
    Status status = for_each(queue, launch, [](auto) { throw std::runtime_error("out of fuel"); });
    for (int i = 0; i < 20; ++i) for_each(queue, 4, [counted](auto) {}).ignore();
    if (status.ok()) status = queue.sync();
    EXPECT_FALSE(device().poison().ok());
    EXPECT_EQ(device().poison().code(), Code::kernel_error);
    for (const char* part : {"the second", "device:0", "out of fuel"})
      EXPECT_THAT(device().poison().text(), testing::HasSubstr(part));
    EXPECT_FALSE(status.ok());
  }
  EXPECT_EQ(counts.live, 0) << "bodies of dropped work were not destroyed";
  const Status again = queue.sync();
  EXPECT_EQ(again.code(), Code::kernel_error);
  EXPECT_THAT(again.text(), testing::HasSubstr("out of fuel"));
  EXPECT_FALSE(for_each(queue, 1, [](auto) {}).ok());

  std::atomic<int> ran{0};
  EXPECT_OK(for_each(other, 4, [&](auto) { ++ran; }));
  EXPECT_OK(other.sync());
  EXPECT_EQ(ran, 4);
}

}  // namespace
}  // namespace gantry::test
