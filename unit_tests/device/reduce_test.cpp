// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/device/kernel.hpp>
#include <gantry/device/range.hpp>
#include <gantry/device/reduce.hpp>
#include <gantry/device/tiles.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "local_queue.hpp"
#include "reducers.hpp"

namespace {

using gantry::Kernel;
using gantry::Launch;
using gantry::Range;
using gantry::test::LocalQueue;
using gantry::test::make_pair_of;

template <class Value, class Pair, class Domain>
Value run(const Pair& pair, const Domain& domain, std::int64_t count, std::uint32_t shares,
          gantry::Schedule schedule = gantry::Schedule::fixed) {
  using Body = gantry::Reduce<Pair, Domain>;
  const Body body{pair, domain, count};
  Value result{};
  Launch launch;
  launch.count = count;
  launch.schedule = schedule;
  launch.chunk = 5;
  launch.share_scratch = static_cast<std::uint32_t>(body.share_scratch());
  launch.result = &result;
  launch.result_bytes = sizeof(Value);
  EXPECT_TRUE(LocalQueue(shares).launch(Kernel<Body>::info, launch, &body).ok());
  return result;
}

TEST(ReduceTest, SumsWithAnyNumberOfItemsSharesAndSchedule) {
  const auto sum = make_pair_of<long>([](int i, long& to) { to += i; }, [] { return 0L; },
                                      [](long& to, const long& from) { to += from; });
  for (const long count : {0, 1, 2, 7, 8, 9, 15, 16, 17, 1000}) {
    for (const std::uint32_t shares : {1u, 2u, 3u, 16u}) {
      EXPECT_EQ(run<long>(sum, Range<long>{10}, count, shares), count * (count - 1) / 2 + 10 * count);
      EXPECT_EQ(run<long>(sum, Range<long>{10}, count, shares, gantry::Schedule::dynamic),
                count * (count - 1) / 2 + 10 * count);
    }
  }
}

TEST(ReduceTest, WorksAtTheLimitsOfTheIndexType) {
  const auto sum = make_pair_of<long>([](std::int8_t i, long& to) { to += i; }, [] { return 0L; },
                                      [](long& to, const long& from) { to += from; });
  EXPECT_EQ(run<long>(sum, Range<std::int8_t>{-128}, 255, 3), -128 - 127);
  const auto count = make_pair_of<long>([](std::int64_t, long& to) { ++to; }, [] { return 0L; },
                                        [](long& to, const long& from) { to += from; });
  EXPECT_EQ(run<long>(count, Range<std::int64_t>{std::numeric_limits<std::int64_t>::max() - 100}, 100, 3), 100);
  EXPECT_EQ(run<long>(count, Range<std::int64_t>{std::numeric_limits<std::int64_t>::min()}, 100, 3), 100);
}

struct Large {
  std::array<double, 400> values{};
};

TEST(ReduceTest, ValuesOfAnySizeAreFolded) {
  const auto pair = make_pair_of<Large>([](int i, Large& to) { to.values[static_cast<std::size_t>(i % 400)] += 1; },
                                        [] { return Large(); },
                                        [](Large& to, const Large& from) {
                                          for (std::size_t k = 0; k < 400; ++k) to.values[k] += from.values[k];
                                        });
  const auto result = std::make_unique<Large>(run<Large>(pair, Range<long>{}, 4000, 3));
  for (const double value : result->values) EXPECT_EQ(value, 10);
}

TEST(ReduceTest, ValuesThatOwnMemoryAreDestroyed) {
  // Long enough not to fit into the object; the leak check of the sanitizers looks after the rest.
  const std::string word = "a string that is too long to be stored in place";
  const auto pair = make_pair_of<std::string>(
      [word](int, std::string& to) { to = to.empty() ? word : to; }, [] { return std::string(); },
      [](std::string& to, const std::string& from) { to = std::max(to, from); });
  EXPECT_EQ(run<std::string>(pair, Range<long>{}, 100, 4), word);
  EXPECT_EQ(run<std::string>(pair, Range<long>{}, 0, 4), "");
}

TEST(ReduceTest, FloatingPointSumsRepeatBitForBit) {
  const auto sum = make_pair_of<double>([](int i, double& to) { to += 1.0 / (1 + i); }, [] { return 0.0; },
                                        [](double& to, const double& from) { to += from; });
  const double first = run<double>(sum, Range<long>{}, 12345, 5);
  for (int repeat = 0; repeat < 3; ++repeat) EXPECT_EQ(run<double>(sum, Range<long>{}, 12345, 5), first);
}

TEST(ReduceTest, FoldsOverTiles) {
  using Tiles = gantry::Tiles<long, 2, gantry::Fastest::last, gantry::Fastest::last>;
  Tiles tiles;
  tiles.upper[0] = 30;
  tiles.upper[1] = 41;
  tiles.tile[0] = 4;
  tiles.tile[1] = 9;
  tiles.tiles[0] = 8;
  tiles.tiles[1] = 5;
  const auto sum = make_pair_of<long>([](int i, int j, long& to) { to += 100 * i + j; }, [] { return 0L; },
                                      [](long& to, const long& from) { to += from; });
  EXPECT_EQ(run<long>(sum, tiles, 40, 3), 100L * 435 * 41 + 820 * 30);
}

}  // namespace
