// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/kokkos/Gantry_Kokkos.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "patterns.hpp"

namespace {

using gantry::Offload;
using gantry::OffloadPinnedSpace;
using gantry::test::to_host;
using Flag = Kokkos::View<int, OffloadPinnedSpace>;

/// A policy whose kernel may wait for the host.
auto heavy(const Offload& space, int count) {
  return Kokkos::Experimental::require(Kokkos::RangePolicy<Offload>(space, 0, count),
                                       Kokkos::Experimental::WorkItemProperty::HintHeavyWeight);
}

void wait_for(const Offload& space, const Flag& flag) {
  Kokkos::parallel_for(
      heavy(space, 1), KOKKOS_LAMBDA(int) {
        while (Kokkos::atomic_load(&flag()) == 0) {
        }
      });
}
void set(const Offload& space, const Flag& flag, int value) {
  Kokkos::parallel_for(
      heavy(space, 1), KOKKOS_LAMBDA(int) { Kokkos::atomic_store(&flag(), value); });
}
/// Sets one flag, then waits for the other.
void meet(const Offload& space, const Flag& mine, const Flag& others) {
  set(space, mine, 1);
  wait_for(space, others);
}

TEST(AsynchronyTest, LaunchReturnsBeforeTheKernelHasRun) {
  const Flag go("go"), done("done");
  const Offload space;
  wait_for(space, go);
  set(space, done, 1);
  EXPECT_EQ(Kokkos::atomic_load(&done()), 0);
  Kokkos::atomic_store(&go(), 1);
  space.fence();
  EXPECT_EQ(Kokkos::atomic_load(&done()), 1);
}

TEST(AsynchronyTest, ReductionAndScanIntoAViewDoNotWait) {
  const Flag go("go");
  const Kokkos::View<double, Kokkos::HostSpace> sum("sum"), total("total");
  const Offload space;
  wait_for(space, go);
  Kokkos::parallel_reduce(
      Kokkos::RangePolicy<Offload>(space, 0, 100), KOKKOS_LAMBDA(int i, double& to) { to += i; }, sum);
  Kokkos::parallel_scan(
      Kokkos::RangePolicy<Offload>(space, 0, 100), KOKKOS_LAMBDA(int, double& to, bool) { to += 1; }, total);
  EXPECT_EQ(sum(), 0);
  EXPECT_EQ(total(), 0);
  Kokkos::atomic_store(&go(), 1);
  space.fence();
  EXPECT_EQ(sum(), 4950);
  EXPECT_EQ(total(), 100);
}

TEST(AsynchronyTest, TwoInstancesRunAtTheSameTime) {
  if (Offload().concurrency() < 2) GTEST_SKIP() << "the device has one thread slot";
  const Flag one("one"), other("other");
  const auto instances = Kokkos::Experimental::partition_space(Offload(), 1, 1);
  meet(instances[0], one, other);
  meet(instances[1], other, one);
  Kokkos::fence();
  EXPECT_EQ(one() + other(), 2);
}

TEST(AsynchronyTest, FenceWaitsForItsOwnInstanceOnly) {
  if (Offload().concurrency() < 2) GTEST_SKIP() << "the device has one thread slot";
  const Flag go("go"), done("done");
  const auto instances = Kokkos::Experimental::partition_space(Offload(), 1, 1);
  wait_for(instances[0], go);
  set(instances[1], done, 1);
  instances[1].fence();
  EXPECT_EQ(done(), 1);
  Kokkos::atomic_store(&go(), 1);
  instances[0].fence();
}

TEST(AsynchronyTest, KernelsOfOneInstanceRunInOrder) {
  const Kokkos::View<int*> values("values", 1000);
  for (int step = 1; step <= 50; ++step) {
    Kokkos::parallel_for(
        1000, KOKKOS_LAMBDA(int i) { values(i) = values(i) == step - 1 ? step : -1; });
  }
  EXPECT_EQ(to_host(values), std::vector<int>(1000, 50));
}

// -- what a functor carries

/// Counts its live objects.
class Counted {
 public:
  Counted() { ++live; }
  Counted(const Counted&) { ++live; }
  Counted& operator=(const Counted&) = default;
  ~Counted() { --live; }
  static inline std::atomic<int> live{0};
};

struct CarriesCounted {
  Counted counted;
  KOKKOS_INLINE_FUNCTION void operator()(int) const {}
  KOKKOS_INLINE_FUNCTION void operator()(int, long& sum) const { sum += 1; }
  KOKKOS_INLINE_FUNCTION void operator()(int, long& sum, bool) const { sum += 1; }
};

TEST(FunctorLifetimeTest, EveryCopyIsDestroyedByTheNextFence) {
  const int before = Counted::live;
  const Flag go("go");
  const Kokkos::View<long> result("result");
  const Offload space;
  for (const int count : {0, 1, 100, 100000}) {
    go() = 0;
    wait_for(space, go);
    {
      const CarriesCounted functor;
      long sum = 0;
      Kokkos::parallel_for(count, functor);
      Kokkos::parallel_for(heavy(space, count), functor);
      Kokkos::parallel_reduce(count, functor, result);
      Kokkos::parallel_scan(count, functor);
      Kokkos::parallel_scan(count, functor, result);
      Kokkos::atomic_store(&go(), 1);
      Kokkos::parallel_reduce(count, functor, sum);
      EXPECT_EQ(sum, count);
    }
    space.fence();
    EXPECT_EQ(Counted::live, before);
  }
}

void sum_of_captured(const Offload& space, const Flag& go, const Kokkos::View<int>& result) {
  wait_for(space, go);
  const std::vector<int> captured(1000, 3);
  const auto text = std::make_shared<std::string>("seven c");
  Kokkos::parallel_for(Kokkos::RangePolicy<Offload>(space, 0, 1000), [=](int i) {
    Kokkos::atomic_add(&result(), captured[static_cast<std::size_t>(i)] + static_cast<int>(text->size()));
  });
}

TEST(FunctorLifetimeTest, CapturesLiveUntilTheKernelHasRun) {
  const Flag go("go");
  const Kokkos::View<int> result("result");
  const Offload space;
  sum_of_captured(space, go, result);
  Kokkos::atomic_store(&go(), 1);
  EXPECT_EQ(to_host(result)[0], 10000);
}

void add_elements(const Offload& space, const Kokkos::View<int*>& values, const Kokkos::View<int>& result) {
  Kokkos::parallel_for(
      Kokkos::RangePolicy<Offload>(space, 0, 1000), KOKKOS_LAMBDA(int i) { Kokkos::atomic_add(&result(), values(i)); });
}

TEST(FunctorLifetimeTest, ViewThatIsFreedWhileAKernelUsesItOutlivesTheKernel) {
  const Flag go("go");
  const Kokkos::View<int> result("result");
  std::optional<Kokkos::View<int*>> values(std::in_place, "values", 1000);
  Kokkos::deep_copy(*values, 2);
  const Offload space(0);
  wait_for(space, go);
  add_elements(space, *values, result);
  std::thread opener([&] { Kokkos::atomic_store(&go(), 1); });
  values.reset();
  opener.join();
  space.fence();
  EXPECT_EQ(to_host(result)[0], 2000);
}

}  // namespace
