// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/core/execution_context.hpp>
#include <unit_tests/support/launch.hpp>
#include <unit_tests/support/runtime_fixture.hpp>

#include <gmock/gmock.h>

#include <limits>
#include <optional>
#include <set>
#include <thread>
#include <vector>

namespace gantry::test {
namespace {

using ::testing::HasSubstr;

class QueueRefTest : public RuntimeFixture {};

TEST_F(QueueRefTest, IsOnePointerWide) {
  EXPECT_EQ(sizeof(QueueRef), sizeof(void*));
}

TEST_F(QueueRefTest, AnEmptyReferenceIsAnErrorAndNoCrash) {
  const QueueRef queue;
  EXPECT_FALSE(queue);
  EXPECT_EQ(queue.sync().code(), Code::invalid_argument);
  EXPECT_EQ(launch(queue, [] {}).code(), Code::invalid_argument);
  EXPECT_TRUE(queue.idle());
  EXPECT_EQ(queue.device(), DeviceHandle());
  EXPECT_EQ(queue.concurrency(), 0);
  EXPECT_EQ(EventRef().sync().code(), Code::invalid_argument);
  EXPECT_TRUE(EventRef().ready());
  const DeviceHandle handle = open();
  EXPECT_EQ(default_queue(handle).record(EventRef()).code(), Code::invalid_argument);
}

TEST_F(QueueRefTest, SaysWhatItIs) {
  const DeviceHandle handle = open(1);
  const QueueRef queue = create_queue(handle, "solver");
  EXPECT_EQ(queue.label(), "solver");
  EXPECT_EQ(queue.device(), handle);
  EXPECT_EQ(queue.concurrency(), 4);
  EXPECT_EQ(default_queue(handle).device(), handle);
  EXPECT_EQ(default_queue(handle).concurrency(), 4);
  EXPECT_EQ(default_queue(handle).label(), "default");
  EXPECT_NE(default_queue(handle), queue);
  EXPECT_EQ(default_queue(handle), default_queue(handle));
}

TEST_F(QueueRefTest, NumbersAreUniqueSmallAndUsedAgain) {
  const DeviceHandle handle = open();
  std::set<std::uint32_t> ids{default_queue(handle).id()};
  std::vector<QueueRef> queues;
  for (int i = 0; i < 100; ++i) queues.push_back(create_queue(handle));
  for (const QueueRef& queue : queues) EXPECT_TRUE(ids.insert(queue.id()).second);
  queues.clear();
  EXPECT_TRUE(ids.contains(create_queue(handle).id()));
  EXPECT_LT(*ids.rbegin(), 1U << 17);
}

TEST_F(QueueRefTest, AMillionQueuesComeAndGo) {
  const DeviceHandle handle = open();
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr int count = 30'000;  // a sanitizer takes minutes for a million
#else
  constexpr int count = 1'000'000;
#endif
  for (int i = 0; i < count; ++i) {
    const QueueRef queue = create_queue(handle);
    if (i % 10'000 == 0) {
      EXPECT_EQ(backend.driver.live().queues, 2);
      EXPECT_EQ(live.count(), 1U);
    }
  }
  EXPECT_EQ(backend.driver.live().queues, 1);
}

TEST_F(QueueRefTest, CopiesCountAndTheLastOneReleases) {
  const DeviceHandle handle = open();
  QueueRef first = create_queue(handle);
  QueueRef second = first;
  EXPECT_EQ(first, second);
  first = QueueRef();
  EXPECT_EQ(backend.driver.live().queues, 2);
  second = QueueRef();
  EXPECT_EQ(backend.driver.live().queues, 1);
}

TEST_F(QueueRefTest, ABusyQueueIsRetiredAndReleasedOnceItIsEmpty) {
  const DeviceHandle handle = open();
  int ran = 0;
  backend.driver.hold();
  {
    const QueueRef queue = create_queue(handle, "busy");
    EXPECT_OK(launch(queue, [&] { ++ran; }));
  }
  EXPECT_EQ(backend.driver.live().queues, 2);
  EXPECT_TRUE(runtime->leak_report().empty()) << "the program holds it no more";
  backend.driver.let_go();
  EXPECT_OK(runtime->fence_all());
  EXPECT_EQ(ran, 1) << "a fence waits for retired queues too";
  create_queue(handle);
  create_queue(handle);
  EXPECT_EQ(backend.driver.live().queues, 1);
  EXPECT_OK(runtime->close(0, CloseMode::refuse_if_busy));
}

TEST_F(QueueRefTest, TheLastReferenceMayDropInsideTheQueuesOwnWork) {
  const DeviceHandle handle = open();
  std::optional<QueueRef> queue = create_queue(handle);
  EXPECT_OK(launch(*queue, [&] { queue.reset(); }));  // in the kernel
  backend.driver.hold();
  {
    const QueueRef last = create_queue(handle);
    EXPECT_OK(launch(last, [last] {}));  // with the closure
  }
  backend.driver.let_go();
  EXPECT_OK(runtime->fence_all());
  create_queue(handle);
  create_queue(handle);
  EXPECT_EQ(backend.driver.live().queues, 1);
}

TEST_F(QueueRefTest, AQueueThatIsHeldAcrossACloseIsStaleForEver) {
  const DeviceHandle handle = open();
  const QueueRef queue = create_queue(handle);
  const QueueRef standard = default_queue(handle);
  settings.leaks = Leaks::off;
  EXPECT_OK(runtime->close(0, CloseMode::force));
  for (const QueueRef& old : {queue, standard}) {
    EXPECT_EQ(launch(old, [] {}).code(), Code::stale_handle);
    EXPECT_TRUE(old.idle());
  }
  const DeviceHandle again = open();
  for (const QueueRef& old : {queue, standard}) {
    const Status status = old.sync();
    EXPECT_EQ(status.code(), Code::stale_handle);
    EXPECT_THAT(status.text(), HasSubstr("fake:0"));
    EXPECT_EQ(old.device(), handle);
    EXPECT_EQ(old.concurrency(), 4) << "kept after the device has closed";
  }
  EXPECT_NE(standard, default_queue(again));
}

TEST_F(QueueRefTest, ThreadsShareAndDropReferences) {
  const DeviceHandle handle = open();
  for (int round = 0; round < 200; ++round) {
    const QueueRef queue = create_queue(handle);
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([copy = queue] {
        for (int k = 0; k < 10; ++k) {
          const QueueRef another = copy;
          EXPECT_OK(launch(another, [] {}));
        }
      });
    }
    threads.emplace_back([this] { EXPECT_OK(runtime->fence_all()); });
  }
  EXPECT_OK(runtime->fence_all());
  EXPECT_EQ(live.count(), 0U);
}

TEST_F(QueueRefTest, EventsOrderQueues) {
  const DeviceHandle handle = open();
  const QueueRef first = create_queue(handle);
  const QueueRef second = create_queue(handle);
  const EventRef event = device().create_event(handle.generation, "event").value();
  EXPECT_TRUE(event.ready()) << "never recorded";
  std::vector<int> order;
  backend.driver.hold();
  EXPECT_OK(launch(first, [&] { order.push_back(1); }));
  EXPECT_OK(first.record(event));
  EXPECT_OK(second.wait(event));
  EXPECT_OK(launch(second, [&] { order.push_back(2); }));
  backend.driver.let_go();
  EXPECT_OK(first.sync());
  EXPECT_OK(second.sync());
  EXPECT_EQ(order, (std::vector{1, 2}));
}

TEST_F(QueueRefTest, WorkOfADeviceMayNeitherEnqueueNorWait) {
  const DeviceHandle handle = open();
  const QueueRef queue = create_queue(handle);
  const QueueRef other = create_queue(handle);
  const EventRef event = device().create_event(handle.generation, "event").value();
  backend.driver.hold();
  EXPECT_OK(launch(other, [] {}));
  EXPECT_OK(other.record(event));
  ExecutionContext inside;
  {
    const ExecutionScope scope(inside);
    EXPECT_EQ(other.sync().code(), Code::refused);
    EXPECT_EQ(event.sync().code(), Code::refused);
    EXPECT_OK(queue.sync()) << "nothing to wait for";
    EXPECT_EQ(launch(queue, [] {}).code(), Code::refused);
    EXPECT_EQ(queue.copy(nullptr, nullptr, 0).code(), Code::refused);
    EXPECT_EQ(queue.write(nullptr, nullptr, 0).code(), Code::refused);
    EXPECT_EQ(queue.fill(nullptr, nullptr, 1, 0).code(), Code::refused);
    EXPECT_EQ(queue.record(event).code(), Code::refused);
    EXPECT_EQ(queue.wait(event).code(), Code::refused);
    EXPECT_EQ(queue.host_function([](void*) {}, nullptr).code(), Code::refused);
  }
  backend.driver.let_go();
  EXPECT_OK(other.sync());
  const ExecutionScope scope(inside);
  EXPECT_OK(other.sync());
  EXPECT_OK(event.sync());
}

TEST_F(QueueRefTest, OperandsLieWithinOneAllocationOfTheirDevice) {
  const DeviceHandle handle = open(0);
  const DeviceHandle elsewhere = open(1);
  const QueueRef queue = default_queue(handle);
  char* mine = static_cast<char*>(allocate(handle, 100, "mine"));
  char* foreign = static_cast<char*>(allocate(elsewhere, 100, "foreign"));
  char* pinned =
      static_cast<char*>(device(1).allocate(elsewhere.generation, MemoryKind::pinned, 100, "pinned").value());
  char host[100] = {};
  EXPECT_OK(queue.copy(mine, host, 100));
  EXPECT_OK(queue.copy(host, mine + 40, 60));
  EXPECT_OK(queue.copy(mine, pinned, 100));
  EXPECT_OK(queue.write(mine + 99, host, 1));
  EXPECT_OK(queue.fill(mine + 50, host, 2, 25));
  EXPECT_OK(queue.fill(mine + 100, host, 2, 0));

  const auto refused = [](const Status& status, const char* part) {
    EXPECT_EQ(status.code(), Code::invalid_argument);
    EXPECT_THAT(status.text(), HasSubstr(part));
  };
  refused(queue.copy(mine, host, 101), "do not lie within 'mine' (100 bytes on fake:0)");
  refused(queue.copy(host, mine + 50, 51), "'mine'");
  refused(queue.write(mine + 99, host, 2), "'mine'");
  refused(queue.fill(mine, host, 2, 51), "'mine'");
  refused(queue.fill(mine, host, 8, std::numeric_limits<std::size_t>::max() / 4), "'mine'");
  refused(queue.copy(foreign, host, 1), "another device: 'foreign' (100 bytes on fake:1)");
  refused(queue.copy(mine, foreign, 1), "another device");
  refused(queue.fill(host, host, 1, 1), "no memory of an open device");

  EXPECT_OK(device(1).deallocate(elsewhere.generation, pinned));
  EXPECT_OK(device(1).deallocate(elsewhere.generation, foreign));
  EXPECT_OK(device(0).deallocate(handle.generation, mine));
  refused(queue.fill(mine, host, 1, 1), "it was freed");
}

}  // namespace
}  // namespace gantry::test
