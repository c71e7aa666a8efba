// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/device/range.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using gantry::Range;
using gantry::WorkRange;

constexpr std::int64_t int64_min = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t int64_max = std::numeric_limits<std::int64_t>::max();

TEST(RangeTest, CountsUpToTheLimitOfALaunch) {
  EXPECT_EQ(Range<int>::count(-5, 7), 12);
  EXPECT_EQ(Range<int>::count(7, 7), 0);
  EXPECT_EQ(Range<int>::count(std::numeric_limits<int>::min(), std::numeric_limits<int>::max()), 0xffffffffLL);
  EXPECT_EQ(Range<std::int64_t>::count(0, int64_max), int64_max);
  EXPECT_EQ(Range<std::int64_t>::count(-1, int64_max), std::nullopt);
  EXPECT_EQ(Range<std::int64_t>::count(int64_min, int64_max), std::nullopt);
  EXPECT_EQ(Range<std::uint64_t>::count(0, std::uint64_t{1} << 63), std::nullopt);
  EXPECT_EQ(Range<std::uint64_t>::count(5, std::numeric_limits<std::uint64_t>::max() - 3), std::nullopt);
  EXPECT_EQ(Range<std::uint64_t>::count(std::uint64_t{1} << 63, std::numeric_limits<std::uint64_t>::max()), int64_max);
}

template <class Index, class Member>
std::pair<std::vector<Member>, bool> rows(Range<Member> range, WorkRange piece) {
  std::vector<Member> seen;
  bool own_type = false;
  range.template for_each_row<Index>(piece, [&](auto first, auto last, auto at) {
    own_type = std::is_same_v<decltype(first), Index>;
    for (auto i = first; i < last; ++i) at(i, [&](auto index) { seen.push_back(static_cast<Member>(index)); });
  });
  return {seen, own_type};
}

TEST(RangeTest, RowsAreInTheTypeThatIsAskedForWhenItHoldsThem) {
  const auto [seen, own_type] = rows<int>(Range<std::int64_t>{-2}, {0, 4});
  EXPECT_EQ(seen, (std::vector<std::int64_t>{-2, -1, 0, 1}));
  EXPECT_TRUE(own_type);
}

TEST(RangeTest, RowsAreInTheRangesTypeWhenTheOtherIsTooNarrow) {
  const std::int64_t begin = std::int64_t{1} << 40;
  const auto [seen, own_type] = rows<int>(Range<std::int64_t>{begin}, {10, 12});
  EXPECT_EQ(seen, (std::vector<std::int64_t>{begin + 10, begin + 11}));
  EXPECT_FALSE(own_type);
  EXPECT_FALSE(rows<unsigned>(Range<int>{-1}, {0, 2}).second);
  EXPECT_TRUE(rows<unsigned>(Range<int>{-1}, {1, 2}).second);
}

TEST(RangeTest, WorksAtTheLimitsOfTheIndexType) {
  EXPECT_EQ(rows<std::int64_t>(Range<std::int64_t>{int64_min}, {0, 2}).first,
            (std::vector<std::int64_t>{int64_min, int64_min + 1}));
  EXPECT_EQ(rows<std::int64_t>(Range<std::int64_t>{1}, {int64_max - 3, int64_max - 1}).first,
            (std::vector<std::int64_t>{int64_max - 2, int64_max - 1}));
  EXPECT_EQ(rows<std::int8_t>(Range<std::int8_t>{-128}, {253, 255}).first, (std::vector<std::int8_t>{125, 126}));
}

}  // namespace
