// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/kokkos/Gantry_Kokkos.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "patterns.hpp"

namespace {

using gantry::Offload;
using gantry::test::sizes;
using gantry::test::to_host;

template <class I, class S>
struct Config {
  using Index = I;
  using Schedule = S;
};
template <class C>
class ParallelForRangeTest : public testing::Test {};
using Static = Kokkos::Schedule<Kokkos::Static>;
using Dynamic = Kokkos::Schedule<Kokkos::Dynamic>;
using Configs =
    testing::Types<Config<std::int8_t, Static>, Config<std::uint8_t, Dynamic>, Config<short, Static>,
                   Config<unsigned short, Dynamic>, Config<int, Static>, Config<int, Dynamic>, Config<unsigned, Static>,
                   Config<std::int64_t, Static>, Config<std::int64_t, Dynamic>, Config<std::uint64_t, Dynamic>>;
TYPED_TEST_SUITE(ParallelForRangeTest, Configs);

struct TagA {};
struct TagB {};

/// Counts the visits of each index of a range; with a tag it counts ten at a time.
template <class Index>
struct Visit {
  Kokkos::View<int*> visits;
  std::int64_t begin;
  KOKKOS_INLINE_FUNCTION int& at(Index i) const { return visits(static_cast<std::int64_t>(i) - begin); }
  KOKKOS_INLINE_FUNCTION void operator()(Index i) const { at(i) += 1; }
  KOKKOS_INLINE_FUNCTION void operator()(TagA, Index i) const { at(i) += 10; }
  KOKKOS_INLINE_FUNCTION void operator()(const TagB&, Index i) const { at(i) += 100; }
};

template <class C, class... Tag>
std::vector<int> visits(std::int64_t begin, std::int64_t count, int chunk = 0) {
  using Index = typename C::Index;
  using Policy = Kokkos::RangePolicy<Offload, typename C::Schedule, Kokkos::IndexType<Index>, Tag...>;
  const Kokkos::View<int*> seen("seen", static_cast<std::size_t>(count) + 1);
  const Index first = static_cast<Index>(begin);
  const Index last = static_cast<Index>(begin + count);
  const Policy policy = chunk == 0 ? Policy(first, last) : Policy(first, last, Kokkos::ChunkSize(chunk));
  Kokkos::parallel_for("visit", policy, Visit<Index>{seen, begin});
  return to_host(seen);
}

std::vector<int> expected(std::int64_t count, int value) {
  std::vector<int> result(static_cast<std::size_t>(count), value);
  result.push_back(0);
  return result;
}

TYPED_TEST(ParallelForRangeTest, VisitsEachIndexOnce) {
  using Limits = std::numeric_limits<typename TypeParam::Index>;
  for (const std::int64_t count : sizes()) {
    for (const std::int64_t begin : {std::int64_t{0}, std::int64_t{3}, std::int64_t{-100}}) {
      if (begin < 0 && !Limits::is_signed) continue;
      if (std::cmp_greater(begin + count, Limits::max())) continue;
      for (const int chunk : {0, 1, 7}) {
        ASSERT_EQ(visits<TypeParam>(begin, count, chunk), expected(count, 1)) << begin << " + " << count;
      }
    }
  }
}

TYPED_TEST(ParallelForRangeTest, CallsTheOperatorOfTheWorkTag) {
  EXPECT_EQ((visits<TypeParam, TagA>(5, 100)), expected(100, 10));
  EXPECT_EQ((visits<TypeParam, TagB>(5, 100)), expected(100, 100));
}

template <class Parameter>
std::int64_t sum_with_parameter(std::int64_t begin, std::int64_t count) {
  const Kokkos::View<std::int64_t*> seen("seen", static_cast<std::size_t>(count));
  Kokkos::parallel_for(
      Kokkos::RangePolicy<Offload>(begin, begin + count),
      KOKKOS_LAMBDA(Parameter i) { seen(static_cast<std::int64_t>(i) - begin) = static_cast<std::int64_t>(i); });
  std::int64_t sum = 0;
  for (const std::int64_t value : to_host(seen)) sum += value;
  return sum;
}

TEST(ParallelForTest, FunctorMayTakeItsIndexInAnyType) {
  EXPECT_EQ(sum_with_parameter<int>(-3, 1000), 496500);
  EXPECT_EQ(sum_with_parameter<const long&>(-3, 1000), 496500);
  EXPECT_EQ(sum_with_parameter<std::size_t>(3, 1000), 502500);
  EXPECT_EQ(sum_with_parameter<short>(-3, 1000), 496500);
  EXPECT_EQ(sum_with_parameter<double>(-3, 1000), 496500);
  EXPECT_EQ(sum_with_parameter<std::int64_t>(std::int64_t{1} << 40, 3), 3 * (std::int64_t{1} << 40) + 3);
}

void count_last_indices(std::int64_t begin, std::int64_t end, const Kokkos::View<std::int64_t>& seen) {
  Kokkos::parallel_for(
      Kokkos::RangePolicy<Offload>(begin, end), KOKKOS_LAMBDA(std::int64_t i) {
        if (i == end - 1) Kokkos::atomic_add(&seen(), i);
      });
}

TEST(ParallelForTest, RangesMayBeginAndEndAnywhere) {
  const Kokkos::View<std::int64_t> seen("seen");
  const std::int64_t max = std::numeric_limits<std::int64_t>::max();
  const std::int64_t min = std::numeric_limits<std::int64_t>::min();
  count_last_indices(max - 1000, max, seen);
  count_last_indices(min, min + 1000, seen);
  EXPECT_EQ(to_host(seen), std::vector<std::int64_t>{max - 1 + min + 999});
}

void touch_none() {
  Kokkos::parallel_for(
      Kokkos::RangePolicy<Offload>(std::int64_t{1} << 40, std::int64_t{1} << 40),
      KOKKOS_LAMBDA(std::int64_t) { Kokkos::abort("an index of an empty range"); });
}

TEST(ParallelForTest, EmptyRangeRunsNothing) {
  touch_none();
  Kokkos::fence();
}

template <class Index>
std::string message_of_range(Index begin, Index end) {
  try {
    Kokkos::parallel_for(Kokkos::RangePolicy<Offload, Kokkos::IndexType<Index>>(begin, end, Kokkos::ChunkSize(1)),
                         KOKKOS_LAMBDA(Index){});
  } catch (const gantry::Error& error) {
    EXPECT_EQ(error.code(), gantry::Code::invalid_argument);
    return error.what();
  }
  return "no error";
}

TEST(ParallelForTest, RangeThatCannotBeCountedIsNamed) {
  const std::int64_t max = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(message_of_range<std::int64_t>(-1, max), testing::HasSubstr("[-1, 9223372036854775807)"));
  EXPECT_THAT(message_of_range<std::int64_t>(std::numeric_limits<std::int64_t>::min(), max),
              testing::HasSubstr("[-9223372036854775808, 9223372036854775807)"));
  EXPECT_THAT(message_of_range<std::uint64_t>(0, std::numeric_limits<std::uint64_t>::max()),
              testing::HasSubstr("[0, 18446744073709551615)"));
}

struct Histogram {
  Kokkos::View<int*> bins;
  KOKKOS_INLINE_FUNCTION void operator()(int i) const { Kokkos::atomic_add(&bins(i % 7), 1); }
};

TEST(ParallelForTest, AtomicsAddUp) {
  const Kokkos::View<int*> bins("bins", 7);
  Kokkos::parallel_for(700000, Histogram{bins});
  EXPECT_EQ(to_host(bins), std::vector<int>(7, 100000));
}

struct Wide {
  double values[4];
};

void replace_wide(const Kokkos::View<Wide>& shared) {
  Kokkos::parallel_for(
      1000, KOKKOS_LAMBDA(int i) {
        const double x = i;
        const Wide before = Kokkos::atomic_exchange(&shared(), Wide{{x, x, x, x}});
        for (int k = 1; k < 4; ++k) {
          if (before.values[k] != before.values[0]) Kokkos::abort("a torn value");
        }
      });
}

TEST(ParallelForTest, AtomicsOfLargeTypesAreNotTorn) {
  const Kokkos::View<Wide> shared("shared");
  replace_wide(shared);
  const Wide last = to_host(shared)[0];
  EXPECT_EQ(last.values[0], last.values[3]);
}

void subviews(const Kokkos::View<int**>& matrix) {
  Kokkos::parallel_for(
      matrix.extent(0), KOKKOS_LAMBDA(int i) {
        const auto row = Kokkos::subview(matrix, i, Kokkos::ALL);
        const Kokkos::View<int*, Offload, Kokkos::MemoryUnmanaged> same(row.data(), row.extent(0));
        for (std::size_t j = 0; j < row.extent(0); ++j) same(j) = i;
      });
}

TEST(ParallelForTest, ViewsCanBeMadeInsideKernels) {
  const Kokkos::View<int**> matrix("matrix", 40, 30);
  subviews(matrix);
  const auto values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), matrix);
  for (int i = 0; i < 40; ++i) {
    for (int j = 0; j < 30; ++j) ASSERT_EQ(values(i, j), i);
  }
}

}  // namespace
