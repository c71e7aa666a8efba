// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <unit_tests/backends/host/host_fixture.hpp>

#include <backends/host/cost.hpp>
#include <backends/host/transfer.hpp>

#include <gmock/gmock.h>

#include <array>
#include <new>
#include <stdexcept>

namespace gantry::test {
namespace {

std::unique_ptr<Queue> make_queue(Device& device) {
  auto made = device.create_queue({});
  EXPECT_TRUE(made.ok());
  return *std::move(made);
}

TEST(HostQueueTest, MayGoWhileTheLaunchThatFilledItReturns) {
  for (const bool blocking : {false, true}) {
    host::EngineOptions options = host_options(2);
    options.blocking = blocking;
    OpenHost host(options);
    for (int repetition = 0; repetition < 200; ++repetition) {
      auto queue = make_queue(*host);
      std::atomic<bool> ran{false};
      std::jthread launcher(
          [&, target = queue.get()] { EXPECT_OK(for_each(*target, items(1, true), [&](auto) { ran = true; })); });
      await([&] { return ran.load(); });
      await([&] { return queue->idle(); });
      EXPECT_OK(queue->close());
      queue.reset();
    }
  }
}

TEST(HostQueueTest, MayGoWhileTheThreadThatHelpedItFences) {
  SKIP_IF_PAGES();
  OpenHost host(1);
  for (int repetition = 0; repetition < 200; ++repetition) {
    auto queue = make_queue(*host);
    std::atomic<bool> ran{false};
    std::atomic<bool> helped{false};
    std::jthread fencer([&, target = queue.get()] {
      EXPECT_OK(for_each(*target, 1000, [&, me = std::this_thread::get_id()](auto i) {
        helped = std::this_thread::get_id() == me;
        if (i == 999) ran = true;
      }));
      EXPECT_OK(target->sync());
    });
    await([&] { return ran.load(); });
    if (!helped) fencer.join();  // it may not have come to fence yet
    await([&] { return queue->idle(); });
    EXPECT_OK(queue->close());
    queue.reset();
  }
}

TEST(HostQueueTest, IsNotIdleWhileAKernelRunsInline) {
  OpenHost host(2);
  Queue& queue = host.queue();
  static std::atomic<bool> runs{false};
  static std::atomic<bool> go{false};
  KernelInfo tiny{.type = "tiny",
                  .host =
                      [](const void*, HostWorker&) {
                        runs = true;
                        await([] { return go.load(); });
                      },
                  .cost = {}};
  tiny.cost.samples = 100;
  std::jthread launcher([&] { EXPECT_OK(queue.launch(tiny, items(1), &tiny)); });
  await([] { return runs.load(); });
  EXPECT_FALSE(queue.idle());
  go = true;
  launcher.join();
  EXPECT_TRUE(queue.idle());
}

template <class Thrown>
void copy_throws(void*, const void*) {
  throw Thrown("no copies");
}
template <>
void copy_throws<int>(void*, const void*) {
  throw 1;
}
template <>
void copy_throws<std::bad_alloc>(void*, const void*) {
  throw std::bad_alloc();
}

TEST(HostQueueTest, SizesThatWrappedAreRefused) {
  OpenHost host(1);
  const auto queue = make_queue(*host);
  std::array<char, 8> to{};
  const std::array<char, 8> from{1};
  for (const std::size_t bytes : {SIZE_MAX, SIZE_MAX - 7, SIZE_MAX / 2 + 1}) {
    EXPECT_EQ(queue->copy(to.data(), from.data(), bytes).code(), Code::invalid_argument) << bytes;
    EXPECT_EQ(queue->write(to.data(), from.data(), bytes).code(), Code::invalid_argument) << bytes;
  }
  EXPECT_OK(queue->sync());
  EXPECT_EQ(to[0], 0);
  EXPECT_OK(queue->close());
}

TEST(HostQueueTest, BodyThatCannotBeCopiedIsRefused) {
  SKIP_IF_PAGES();
  OpenHost host(2);
  Queue& queue = host.queue();
  struct Case {
    void (*copy)(void*, const void*);
    Code code;
    const char* text;
  };
  for (const bool busy : {false, true}) {
    std::atomic<bool> go{!busy};
    EXPECT_OK(for_each(queue, items(1, true), [&](auto) { await([&] { return go.load(); }); }));
    if (!busy) EXPECT_OK(queue.sync());
    for (const Case& expected : {Case{&copy_throws<std::runtime_error>, Code::kernel_error, "no copies"},
                                 Case{&copy_throws<int>, Code::kernel_error, "no std::exception"},
                                 Case{&copy_throws<std::bad_alloc>, Code::out_of_memory, "bad_alloc"}}) {
      const KernelInfo kernel{.type = "uncopyable",
                              .copy = expected.copy,
                              .host = [](const void*, HostWorker&) { ADD_FAILURE() << "a refused kernel ran"; },
                              .cost = {}};
      const Status status = queue.launch(kernel, items(64), &kernel);
      EXPECT_EQ(status.code(), expected.code);
      EXPECT_THAT(status.text(), testing::HasSubstr(expected.text));
      EXPECT_THAT(status.text(), testing::HasSubstr("uncopyable"));
    }
    go = true;
    EXPECT_OK(queue.sync());  // a launch that was refused leaves the queue as it was
    EXPECT_TRUE(queue.idle());
  }
}

/// Counts where its copies, which the queue makes, are not made and do not die as work of a kernel.
struct DiesInside {
  std::atomic<int>* outside;
  bool is_copy = false;
  explicit DiesInside(std::atomic<int>& count) : outside(&count) {}
  DiesInside(const DiesInside& other) : outside(other.outside), is_copy(true) {
    if (execution_context() == nullptr) ++*outside;
  }
  ~DiesInside() {
    if (is_copy && execution_context() == nullptr) ++*outside;
  }
  void operator()(HostWorker&) const {}
};

TEST(HostQueueTest, BodiesAreCopiedAndDieAsWorkOfTheirKernel) {
  SKIP_IF_PAGES();
  std::atomic<int> outside{0};
  {
    OpenHost host(2);
    Queue& queue = host.queue();
    const DiesInside body(outside);
    const auto launch_some = [&] {
      for (const bool heavy : {false, true}) {
        for (const std::int64_t count : {0, 1, 64}) queue.launch(kernel_of(body), items(count, heavy), &body).ignore();
      }
    };
    launch_some();
    EXPECT_OK(queue.sync());
    std::atomic<bool> go{false};
    EXPECT_OK(for_each(queue, items(1, true), [&](auto) { await([&] { return go.load(); }); }));
    launch_some();  // behind work that runs
    EXPECT_OK(for_each(queue, items(1), [](auto) { throw std::runtime_error("the rest is dropped"); }));
    launch_some();
    go = true;
    EXPECT_EQ(queue.sync().code(), Code::kernel_error);
  }
  EXPECT_EQ(outside, 0);
}

TEST(HostQueueTest, LaunchOfFarMoreItemsIsMeasured) {
  OpenHost host(2);
  Queue& queue = host.queue();
  KernelInfo kernel{.type = "kernel", .host = [](const void*, HostWorker&) {}, .cost = {}};
  kernel.cost.samples = 100;
  kernel.cost.ns_per_item = 1e6F;
  kernel.cost.items = 1;
  EXPECT_OK(queue.launch(kernel, items(4), &kernel));  // two items a share are not far more than one
  EXPECT_OK(queue.sync());
  EXPECT_EQ(kernel.cost.samples, 100U);
  EXPECT_OK(queue.launch(kernel, items(1000), &kernel));
  EXPECT_OK(queue.sync());
  EXPECT_EQ(kernel.cost.items, 500);
  EXPECT_LE(kernel.cost.samples, 2U) << "it trains anew";
}

TEST(HostQueueTest, TransfersAreNotMeasured) {
  OpenHost host(2);
  Queue& queue = host.queue();
  std::vector<char> from(1 << 20);
  std::vector<char> to(1 << 20);
  for (int i = 0; i < 130; ++i) {
    for (const std::size_t bytes : {std::size_t{8}, from.size()}) {
      EXPECT_OK(queue.copy(to.data(), from.data(), bytes));
      EXPECT_OK(queue.write(to.data(), from.data(), bytes));
      EXPECT_OK(queue.fill(to.data(), from.data(), 1, bytes));
    }
  }
  EXPECT_OK(queue.sync());
  for (const KernelInfo* kernel : {&host::copy_kernel, &host::write_kernel, &host::fill_kernel})
    EXPECT_EQ(kernel->cost.items, 0) << kernel->type << " brings its estimate and needs no look at the clock";
}

TEST(HostQueueTest, TransfersDoNotTakeTheTurnOfAKernelToBeMeasured) {
  if (settings()->protect != Protect::off) GTEST_SKIP() << "no kernel takes the shortest way under protection";
  OpenHost host(2);
  Queue& queue = host.queue();
  KernelInfo kernel{.type = "kernel", .host = [](const void*, HostWorker&) {}, .cost = {}};
  kernel.cost.samples = 100;
  kernel.cost.ns_per_item = 1;
  char to = 0;
  const char from = 1;
  for (std::uint32_t i = 0; i < host::Cost::period; ++i) {
    EXPECT_OK(queue.launch(kernel, items(1), &kernel));
    EXPECT_OK(queue.copy(&to, &from, 1));
  }
  EXPECT_EQ(kernel.cost.items, 1) << "one of `period` kernels is";
}

TEST(HostQueueTest, TransferErrorsCountInTheirOwnUnits) {
  OpenHost host(1);
  Queue& queue = host.queue();
  const double value = 1;
  EXPECT_THAT(queue.fill(nullptr, &value, sizeof(value), 10).text(), testing::HasSubstr("80 bytes"));
  EXPECT_THAT(queue.copy(nullptr, &value, sizeof(value)).text(), testing::HasSubstr("8 bytes"));
  EXPECT_THAT(queue.fill(nullptr, &value, sizeof(value), ~std::size_t{0}).text(),
              testing::HasSubstr("elements of 8 bytes"));
}

}  // namespace
}  // namespace gantry::test
