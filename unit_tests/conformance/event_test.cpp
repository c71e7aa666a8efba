// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <unit_tests/conformance/device_fixture.hpp>

#include <atomic>
#include <thread>

namespace gantry::test {
namespace {

class EventTest : public DeviceFixture {};
GANTRY_CONFORMANCE(EventTest);

TEST_P(EventTest, IsReadyBeforeItWasRecorded) {
  Event& event = make_event();
  EXPECT_TRUE(event.ready());
  EXPECT_OK(event.sync());
  EXPECT_OK(make_queue().wait(event));
}

TEST_P(EventTest, IsReadyWhenTheQueueGotThere) {
  SKIP_IF_BLOCKING();
  Queue& queue = make_queue();
  Event& event = make_event();
  Gate gate;
  gate.close(queue);
  EXPECT_OK(queue.record(event));
  EXPECT_FALSE(event.ready());
  gate.open();
  EXPECT_OK(event.sync());
  EXPECT_TRUE(event.ready());
}

TEST_P(EventTest, RecordOnAnIdleQueueIsReadyAtOnce) {
  Queue& queue = make_queue();
  Event& event = make_event();
  EXPECT_OK(queue.record(event));
  EXPECT_TRUE(event.ready());
  EXPECT_OK(event.sync());
}

TEST_P(EventTest, HoldsBackWhoWaits) {
  SKIP_IF_BLOCKING();
  for (const int waiting_device : {0, 1}) {
    Queue& first = make_queue();
    Queue& second = make_queue(waiting_device);
    Event& event = make_event();
    std::atomic<int> order{0};
    int first_at = 0;
    int second_at = 0;
    Gate gate;
    gate.close(first);
    EXPECT_OK(for_each(first, 1, [&](auto) { first_at = ++order; }));
    EXPECT_OK(first.record(event));
    EXPECT_OK(second.wait(event));
    EXPECT_OK(for_each(second, 1, [&](auto) { second_at = ++order; }));
    EXPECT_FALSE(second.idle());
    gate.open();
    EXPECT_OK(second.sync());
    EXPECT_EQ(first_at, 1);
    EXPECT_EQ(second_at, 2);
    EXPECT_OK(first.sync());
  }
}

TEST_P(EventTest, LastRecordCounts) {
  SKIP_IF_BLOCKING();
  Queue& slow = make_queue();
  Queue& fast = make_queue();
  Event& event = make_event();
  Gate gate;
  gate.close(slow);
  EXPECT_OK(slow.record(event));
  EXPECT_OK(fast.record(event));
  EXPECT_OK(event.sync());
  EXPECT_TRUE(event.ready());
  EXPECT_OK(slow.record(event));
  EXPECT_FALSE(event.ready());
  gate.open();
  EXPECT_OK(event.sync());
}

TEST_P(EventTest, WaitMeansTheRecordBeforeIt) {
  SKIP_IF_BLOCKING();
  Queue& first = make_queue();
  Queue& second = make_queue();
  Event& event = make_event();
  EXPECT_OK(first.record(event));
  EXPECT_OK(event.sync());
  EXPECT_OK(second.wait(event));
  Gate gate;
  gate.close(first);
  EXPECT_OK(first.record(event));  // later than the wait, so nobody waits for it
  std::atomic<bool> ran{false};
  EXPECT_OK(for_each(second, 1, [&](auto) { ran = true; }));
  EXPECT_OK(second.sync());
  EXPECT_TRUE(ran);
  gate.open();
  EXPECT_OK(first.sync());  // the gate may go when nobody waits at it
}

TEST_P(EventTest, WaitMeansItsRecordThoughALaterOneIsReached) {
  SKIP_IF_BLOCKING();
  Queue& slow = make_queue();
  Queue& fast = make_queue();
  Queue& third = make_queue();
  Event& event = make_event();
  Gate gate;
  gate.close(slow);
  EXPECT_OK(slow.record(event));
  EXPECT_OK(third.wait(event));
  std::atomic<bool> ran{false};
  EXPECT_OK(for_each(third, 1, [&](auto) { ran = true; }));
  EXPECT_OK(fast.record(event));
  EXPECT_OK(event.sync());
  // Time for whoever would run it too early; nothing depends on how long.
  EXPECT_EQ(device().drain(std::chrono::milliseconds(5)).code(), Code::timeout);
  EXPECT_FALSE(ran);
  gate.open();
  EXPECT_OK(third.sync());
  EXPECT_TRUE(ran);
  EXPECT_OK(slow.sync());
}

TEST_P(EventTest, MayDieWhileItIsEnqueued) {
  SKIP_IF_BLOCKING();
  Queue& first = make_queue();
  Queue& second = make_queue();
  Event& event = make_event();
  Gate gate;
  gate.close(first);
  EXPECT_OK(first.record(event));
  EXPECT_OK(second.wait(event));
  std::atomic<bool> ran{false};
  EXPECT_OK(for_each(second, 1, [&](auto) { ran = true; }));
  close_event(event);
  EXPECT_FALSE(ran);
  gate.open();
  EXPECT_OK(second.sync());
  EXPECT_TRUE(ran);
}

TEST_P(EventTest, OrdersQueuesThatPingPong) {
  Queue* queues[2] = {&make_queue(0), &make_queue(1)};
  Event& event = make_event();
  unsigned value = 0;  // a race, and a wrong sum, unless events order the queues
  for (int i = 0; i < 300; ++i) {
    Queue& queue = *queues[i % 2];
    EXPECT_OK(queue.wait(event));
    EXPECT_OK(for_each(queue, 2, [&value, i](auto item) {
      if (item == 0) value = value * 5 + static_cast<unsigned>(i);
    }));
    EXPECT_OK(queue.record(event));
  }
  EXPECT_OK(event.sync());
  unsigned expected = 0;
  for (unsigned i = 0; i < 300; ++i) expected = expected * 5 + i;
  EXPECT_EQ(value, expected);
}

TEST_P(EventTest, SyncFromManyThreads) {
  SKIP_IF_BLOCKING();
  Queue& queue = make_queue();
  Event& event = make_event();
  Gate gate;
  gate.close(queue);
  EXPECT_OK(queue.record(event));
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) threads.emplace_back([&] { EXPECT_OK(event.sync()); });
  gate.open();
  threads.clear();
  EXPECT_TRUE(event.ready());
}

}  // namespace
}  // namespace gantry::test
