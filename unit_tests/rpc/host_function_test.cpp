// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "calls_environment.hpp"

#include <gantry/device/host_function.hpp>
#include <gantry/device/printf.hpp>

#include <gmock/gmock.h>

#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

namespace gantry {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class HostFunctionTest : public CallsFixture {};

struct Vector {
  double x, y, z;
};

TEST_F(HostFunctionTest, TakesArgumentsAndReturnsAResult) {
  const HostFunction<double(int, char, Vector)> mixed([](int i, char c, Vector v) { return i + c + v.x + v.y + v.z; });
  const HostFunction<Vector(double)> large([](double d) { return Vector{d, 2 * d, 3 * d}; });
  const HostFunction<char()> small([] { return 'c'; });
  EXPECT_OK(run(handle, 50, [f = mixed.ref(), g = large.ref(), h = small.ref()](std::int64_t i) {
    EXPECT_EQ(f(static_cast<int>(i), '\1', {0.5, 0.25, 0.125}), static_cast<double>(i) + 1.875);
    const Vector vector = g(static_cast<double>(i));
    EXPECT_EQ(vector.z, 3.0 * static_cast<double>(i));
    EXPECT_EQ(h(), 'c');
  }));
}

TEST_F(HostFunctionTest, MayReturnNothing) {
  std::atomic<int> sum{0};
  const HostFunction<void(int)> add([&](int i) { sum += i; });
  const HostFunction<void()> count([&] { sum += 1000; });
  EXPECT_OK(run(handle, 10, [f = add.ref(), g = count.ref()](std::int64_t i) {
    f(static_cast<int>(i));
    EXPECT_EQ(g.try_call(), rpc::Answer::ok);
  }));
  EXPECT_EQ(sum, 10'045);
}

TEST_F(HostFunctionTest, ManyThreadsOfTwoDevicesCallIt) {
  std::atomic<std::int64_t> sum{0};
  const HostFunction<std::int64_t(std::int64_t)> add([&](std::int64_t i) {
    sum += i;
    return 2 * i;
  });
  const auto functor = [f = add.ref()](std::int64_t i) { EXPECT_EQ(f(i), 2 * i); };
  {
    std::jthread second([&] { EXPECT_OK(run(other, 1000, functor)); });
    EXPECT_OK(run(handle, 1000, functor));
  }
  EXPECT_EQ(sum, 999'000);
}

TEST_F(HostFunctionTest, FailsWhenItThrows) {
  log_to_text();
  const HostFunction<int(int)> bad([](int) -> int { throw std::runtime_error("no answer"); });
  EXPECT_OK(run(handle, 1, [f = bad.ref()](std::int64_t) {
    int result = 5;
    EXPECT_EQ(f.try_call(result, 1), rpc::Answer::failed);
    EXPECT_EQ(result, 5);
  }));
  EXPECT_THAT(text(), HasSubstr("no answer"));
  const Status status = run(handle, 1, [f = bad.ref()](std::int64_t) { f(1); });
  EXPECT_EQ(status.code(), Code::kernel_error);
  EXPECT_THAT(status.text(), HasSubstr("a host function did not answer"));
}

TEST_F(HostFunctionTest, CannotBeCalledWhenItHasEnded) {
  log_to_text();
  auto held = std::make_shared<int>(1);
  std::optional<HostFunction<int()>> function(std::in_place, [held] { return *held; });
  const auto ref = function->ref();
  EXPECT_OK(run(handle, 1, [=](std::int64_t) { EXPECT_EQ(ref(), 1); }));
  EXPECT_EQ(held.use_count(), 2);
  function.reset();
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_OK(run(handle, 1, [=](std::int64_t) {
    int result = 5;
    EXPECT_EQ(ref.try_call(result), rpc::Answer::unknown);
    EXPECT_EQ(result, 5);
  }));
}

TEST_F(HostFunctionTest, EndsWhenNoCallIsInside) {
  std::atomic<bool> leave{false};
  std::atomic<bool> inside{false};
  std::atomic<bool> ended{false};
  std::optional<HostFunction<void()>> function(std::in_place, [&] {
    inside = true;
    inside.notify_all();
    leave.wait(false);
    EXPECT_FALSE(ended);
  });
  const auto ref = function->ref();
  std::jthread kernel([&] { EXPECT_OK(run(handle, 1, [=](std::int64_t) { ref(); })); });
  inside.wait(false);
  std::jthread ender([&] {
    function.reset();
    ended = true;
  });
  std::atomic<int> answered{0};  // another device's calls are served meanwhile
  const HostFunction<void()> count([&] { ++answered; });
  EXPECT_OK(run(other, 1, [f = count.ref()](std::int64_t) { f(); }));
  EXPECT_EQ(answered, 1);
  EXPECT_FALSE(ended);
  leave = true;
  leave.notify_all();
}

TEST_F(HostFunctionTest, AReferenceToNoneFails) {
  log_to_text();
  std::atomic<bool> answered{false};
  const QueueRef queue = queue_of(handle);
  EXPECT_OK(parallel_for(queue, 1, [&](std::int64_t) {
    int result = 5;
    const rpc::Answer answer = HostFunctionRef<int(int)>().try_call(result, 1);
    answered = answer != rpc::Answer::ok && answer != rpc::Answer::aborted;
  }));
  EXPECT_OK(close_device(0, CloseMode::force));  // lets a kernel go that nobody answers
  EXPECT_TRUE(answered);
}

}  // namespace
}  // namespace gantry
