// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/device/kernel.hpp>
#include <gantry/device/range.hpp>
#include <gantry/device/scan.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "local_queue.hpp"
#include "reducers.hpp"

namespace {

using gantry::Kernel;
using gantry::Launch;
using gantry::Range;
using gantry::test::LocalQueue;
using gantry::test::make_pair_of;

template <class Value, class Pair>
Value run(const Pair& pair, std::int64_t begin, std::int64_t count, std::uint32_t shares) {
  using Body = gantry::Scan<Pair, Range<std::int64_t>>;
  const Body body{pair, {begin}, count};
  Value total{};
  Launch launch;
  launch.count = count;
  launch.phases = Body::phases;
  launch.share_scratch = static_cast<std::uint32_t>(body.share_scratch());
  launch.result = &total;
  launch.result_bytes = sizeof(Value);
  EXPECT_TRUE(LocalQueue(shares).launch(Kernel<Body>::info, launch, &body).ok());
  return total;
}

constexpr std::int64_t counts[] = {0, 1, 2, 3, 7, 63, 64, 65, 1000};

TEST(ScanTest, InclusiveAndExclusiveSumsWithAnyNumberOfItemsAndShares) {
  for (const std::int64_t count : counts) {
    for (const std::uint32_t shares : {1u, 2u, 3u, 16u}) {
      std::vector<long> before(static_cast<std::size_t>(count)), after(before);
      long* const exclusive = before.data();
      long* const inclusive = after.data();
      const auto pair = make_pair_of<long>(
          [=](int i, long& value, bool final) {
            if (final) exclusive[i - 5] = value;
            value += i;
            if (final) inclusive[i - 5] = value;
          },
          [] { return 0L; }, [](long& to, const long& from) { to += from; });
      const long total = run<long>(pair, 5, count, shares);
      long sum = 0;
      for (std::int64_t i = 0; i < count; ++i) {
        EXPECT_EQ(exclusive[i], sum);
        sum += i + 5;
        EXPECT_EQ(inclusive[i], sum);
      }
      EXPECT_EQ(total, sum);
    }
  }
}

TEST(ScanTest, JoinsInOrder) {
  using gantry::test::Run;
  for (const std::int64_t count : counts) {
    for (const std::uint32_t shares : {1u, 2u, 3u, 16u}) {
      std::vector<Run> seen(static_cast<std::size_t>(count));
      Run* const to = seen.data();
      const auto pair = make_pair_of<Run>(
          [=](int i, Run& run, bool final) {
            append(run, {i, i});
            if (final) to[i] = run;
          },
          [] { return Run(); }, [](Run& run, const Run& next) { append(run, next); });
      const Run total = run<Run>(pair, 0, count, shares);
      EXPECT_EQ(total, (count == 0 ? Run() : Run{0, static_cast<int>(count) - 1, false}));
      for (std::int64_t i = 0; i < count; ++i) EXPECT_EQ(to[i], (Run{0, static_cast<int>(i), false}));
    }
  }
}

TEST(ScanTest, ValuesThatOwnMemoryAreDestroyed) {
  const auto pair = make_pair_of<std::string>([](int i, std::string& text, bool) { text += std::to_string(i % 10); },
                                              [] { return std::string(); },
                                              [](std::string& to, const std::string& from) { to += from; });
  std::string expected;
  for (int i = 0; i < 200; ++i) expected += std::to_string(i % 10);
  for (const std::uint32_t shares : {1u, 2u, 5u}) EXPECT_EQ(run<std::string>(pair, 0, 200, shares), expected);
  EXPECT_EQ(run<std::string>(pair, 0, 0, 2), "");
}

}  // namespace
