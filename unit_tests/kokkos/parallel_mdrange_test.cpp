// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/kokkos/Gantry_Kokkos.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "patterns.hpp"

namespace {

using gantry::Offload;
using gantry::test::to_host;
using Kokkos::Iterate;

template <class P>
class ParallelMDRangeTest : public testing::Test {};
using Policies = testing::Types<
    Kokkos::MDRangePolicy<Offload, Kokkos::Rank<3>>,
    Kokkos::MDRangePolicy<Offload, Kokkos::Rank<3>, Kokkos::IndexType<int>>,
    Kokkos::MDRangePolicy<Offload, Kokkos::Rank<3>, Kokkos::IndexType<std::int64_t>, Kokkos::Schedule<Kokkos::Dynamic>>,
    Kokkos::MDRangePolicy<Offload, Kokkos::Rank<3, Iterate::Left, Iterate::Left>>,
    Kokkos::MDRangePolicy<Offload, Kokkos::Rank<3, Iterate::Left, Iterate::Right>, Kokkos::Schedule<Kokkos::Dynamic>>,
    Kokkos::MDRangePolicy<Offload, Kokkos::Rank<3, Iterate::Right, Iterate::Left>>>;
TYPED_TEST_SUITE(ParallelMDRangeTest, Policies);

struct Visit {
  Kokkos::View<int***> visits;
  int lower[3];
  KOKKOS_INLINE_FUNCTION void operator()(int i, int j, int k) const {
    visits(i - lower[0], j - lower[1], k - lower[2]) += 1;
  }
};
struct Sum {
  KOKKOS_INLINE_FUNCTION void operator()(int i, int j, int k, std::int64_t& sum) const {
    sum += i + 100 * j + 10000 * k;
  }
};

TYPED_TEST(ParallelMDRangeTest, VisitsEachIndexOnceWithAnyTile) {
  const int extents[][3] = {{0, 3, 4}, {1, 1, 1}, {7, 5, 3}, {4, 4, 40}, {33, 34, 35}};
  const int tiles[][3] = {{0, 0, 0}, {1, 1, 1}, {2, 3, 4}, {100, 100, 100}};
  for (const auto& extent : extents) {
    for (const auto& tile : tiles) {
      for (const int offset : {0, -3}) {
        const Visit functor{Kokkos::View<int***>("visits", extent[0], extent[1], extent[2]),
                            {offset, offset + 1, offset + 2}};
        const int(&lower)[3] = functor.lower;
        const TypeParam policy({lower[0], lower[1], lower[2]},
                               {lower[0] + extent[0], lower[1] + extent[1], lower[2] + extent[2]},
                               {tile[0], tile[1], tile[2]});
        Kokkos::parallel_for(policy, functor);
        const auto visits = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), functor.visits);
        std::int64_t expected = 0;
        for (int i = 0; i < extent[0]; ++i) {
          for (int j = 0; j < extent[1]; ++j) {
            for (int k = 0; k < extent[2]; ++k) {
              ASSERT_EQ(visits(i, j, k), 1);
              expected += i + lower[0] + 100 * (j + lower[1]) + 10000 * (k + lower[2]);
            }
          }
        }
        std::int64_t sum = -1;
        Kokkos::parallel_reduce(policy, Sum(), sum);
        EXPECT_EQ(sum, expected);
      }
    }
  }
}

template <int Rank>
struct Count {
  Kokkos::View<int> visits;
  template <class... Index>
  KOKKOS_INLINE_FUNCTION void operator()(Index... index) const {
    static_assert(sizeof...(Index) == Rank);
    Kokkos::atomic_add(&visits(), (static_cast<int>(index) * ... * 1));
  }
};

template <int Rank>
void check_rank() {
  Kokkos::Array<std::int64_t, Rank> lower, upper;
  int expected = 1;
  for (int d = 0; d < Rank; ++d) {
    lower[d] = d;
    upper[d] = d + 3;
    expected *= 3 * d + 3;
  }
  const Kokkos::View<int> visits("visits");
  Kokkos::parallel_for(Kokkos::MDRangePolicy<Offload, Kokkos::Rank<Rank>>(lower, upper), Count<Rank>{visits});
  EXPECT_EQ(to_host(visits)[0], expected);
}

TEST(ParallelMDRangeRankTest, AllRanks) {
  check_rank<2>();
  check_rank<3>();
  check_rank<4>();
  check_rank<5>();
  check_rank<6>();
}

struct Tagged {
  struct Add {};
  Kokkos::View<int**> to;
  KOKKOS_INLINE_FUNCTION void operator()(Add, int i, int j) const { to(i, j) += 10 * i + j; }
  KOKKOS_INLINE_FUNCTION void operator()(const Add&, int i, int j, double& sum) const { sum += to(i, j); }
};

TEST(ParallelMDRangeTagTest, CallsTheOperatorOfTheWorkTag) {
  using Policy = Kokkos::MDRangePolicy<Offload, Kokkos::Rank<2>, Tagged::Add>;
  const Tagged functor{Kokkos::View<int**>("to", 10, 10)};
  Kokkos::parallel_for(Policy({0, 0}, {10, 10}), functor);
  double sum = 0;
  Kokkos::parallel_reduce(Policy({0, 0}, {10, 10}), functor, sum);
  EXPECT_EQ(sum, 4950);
  Kokkos::parallel_reduce(Policy({0, 0}, {0, 10}), functor, sum);
  EXPECT_EQ(sum, 0);
}

struct RowSums {
  using value_type = double[];
  unsigned value_count;
  KOKKOS_INLINE_FUNCTION void operator()(int i, int j, double* sums) const { sums[i] += j; }
};

TEST(ParallelMDRangeReduceTest, ArraysAndReducers) {
  const Kokkos::MDRangePolicy<Offload, Kokkos::Rank<2>> policy({0, 0}, {20, 100});
  double sums[20];
  Kokkos::parallel_reduce(policy, RowSums{20}, sums);
  for (const double sum : sums) EXPECT_EQ(sum, 4950);
  int largest = 0;
  Kokkos::parallel_reduce(
      policy, KOKKOS_LAMBDA(int i, int j, int& value) { value = value < i * j ? i * j : value; },
      Kokkos::Max<int>(largest));
  EXPECT_EQ(largest, 19 * 99);
}

TEST(ParallelMDRangePolicyTest, RecommendedTilesAreLongInTheFastestIndex) {
  const Kokkos::MDRangePolicy<Offload, Kokkos::Rank<3>> right({0, 0, 0}, {100, 100, 100});
  EXPECT_EQ(right.tile_size_recommended()[2], 100);
  const Kokkos::MDRangePolicy<Offload, Kokkos::Rank<2, Iterate::Left, Iterate::Left>> left({0, 0}, {100, 100});
  EXPECT_EQ(left.tile_size_recommended()[0], 100);
  const Kokkos::MDRangePolicy<Offload, Kokkos::Rank<2>> flat({0, 0}, {2, 10000000});
  EXPECT_GE(flat.m_num_tiles, 2 * Offload().concurrency());
}

template <class Layout>
void check_strided_copy() {
  const Kokkos::View<int***, Layout, Offload> from("from", 12, 13, 14);
  Kokkos::parallel_for(
      Kokkos::MDRangePolicy<Offload, Kokkos::Rank<3>>({0, 0, 0}, {12, 13, 14}),
      KOKKOS_LAMBDA(int i, int j, int k) { from(i, j, k) = (i * 100 + j) * 100 + k; });
  const Kokkos::View<int**, Kokkos::LayoutLeft, Offload> to("to", 5, 6);
  Kokkos::deep_copy(to, Kokkos::subview(from, Kokkos::pair(2, 7), 3, Kokkos::pair(4, 10)));
  const auto values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), to);
  for (int i = 0; i < 5; ++i) {
    for (int k = 0; k < 6; ++k) ASSERT_EQ(values(i, k), ((i + 2) * 100 + 3) * 100 + k + 4);
  }
}

TEST(ParallelMDRangeCopyTest, StridedViewsAreCopied) {
  check_strided_copy<Kokkos::LayoutRight>();
  check_strided_copy<Kokkos::LayoutLeft>();
}

}  // namespace
