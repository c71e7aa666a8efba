// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/device/for_each.hpp>
#include <gantry/device/kernel.hpp>
#include <gantry/device/launch.hpp>
#include <gantry/device/range.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <type_traits>
#include <vector>

#include "local_queue.hpp"

namespace {

using gantry::ForEach;
using gantry::Kernel;
using gantry::Launch;
using gantry::Range;
using gantry::test::LocalQueue;

template <class Member>
class ForEachTest : public testing::Test {};
using Members = testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
                               std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(ForEachTest, Members);

template <class Member>
struct CountVisits {
  int* visits;
  Member begin;
  void operator()(Member i) const { ++visits[static_cast<std::int64_t>(i) - static_cast<std::int64_t>(begin)]; }
};

TYPED_TEST(ForEachTest, VisitsEachIndexOnceWithAnyNumberOfSharesAndSchedule) {
  for (const std::int64_t count : {0, 1, 2, 3, 4, 5, 100}) {
    for (const std::uint32_t shares : {1u, 3u, 4u}) {
      for (const auto schedule : {gantry::Schedule::fixed, gantry::Schedule::dynamic}) {
        for (const int chunk : {0, 1, 7}) {
          const TypeParam begin = std::is_signed_v<TypeParam> ? static_cast<TypeParam>(-20) : TypeParam{20};
          std::vector<int> visits(static_cast<std::size_t>(count) + 1);
          using Body = ForEach<CountVisits<TypeParam>, Range<TypeParam>>;
          const Body body{{visits.data(), begin}, {begin}};
          Launch launch;
          launch.count = count;
          launch.schedule = schedule;
          launch.chunk = chunk;
          ASSERT_TRUE(LocalQueue(shares).launch(Kernel<Body>::info, launch, &body).ok());
          std::vector<int> expected(static_cast<std::size_t>(count), 1);
          expected.push_back(0);
          EXPECT_EQ(visits, expected);
        }
      }
    }
  }
}

struct Tagged {
  struct Add {};
  struct Subtract {};
  int* sum;
  void operator()(Add, int i) const { *sum += i; }
  void operator()(const Subtract&, int i) const { *sum -= i; }
};

TEST(ForEachTagTest, CallsTheOperatorOfTheTag) {
  int sum = 0;
  Launch launch;
  launch.count = 5;
  const ForEach<Tagged, Range<int>, Tagged::Add> add{{&sum}, {}};
  ASSERT_TRUE(LocalQueue(2).launch(Kernel<decltype(add)>::info, launch, &add).ok());
  EXPECT_EQ(sum, 10);
  const ForEach<Tagged, Range<int>, Tagged::Subtract> subtract{{&sum}, {}};
  ASSERT_TRUE(LocalQueue(2).launch(Kernel<decltype(subtract)>::info, launch, &subtract).ok());
  EXPECT_EQ(sum, 0);
}

TEST(LaunchTest, ParallelForNeedsNoKokkos) {
  std::vector<double> y(1000, 1.0);
  double* const to = y.data();
  ASSERT_TRUE(gantry::parallel_for(LocalQueue(3), 1000, [to](int i) { to[i] += i; }).ok());
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(y[static_cast<std::size_t>(i)], 1.0 + i);
  ASSERT_TRUE(gantry::parallel_for(LocalQueue(3), -1, [to](int i) { to[i] = -1; }).ok());
  EXPECT_EQ(y[0], 1.0);
}

}  // namespace
