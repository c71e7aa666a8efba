// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/kokkos/Gantry_Kokkos.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "patterns.hpp"

namespace {

using gantry::Offload;
using gantry::OffloadPinnedSpace;
using gantry::OffloadSpace;
using gantry::test::sizes;
using gantry::test::to_host;

template <class I, class S>
struct Config {
  using Index = I;
  using Schedule = S;
};
template <class C>
class ParallelReduceRangeTest : public testing::Test {};
using Static = Kokkos::Schedule<Kokkos::Static>;
using Dynamic = Kokkos::Schedule<Kokkos::Dynamic>;
using Configs = testing::Types<Config<int, Static>, Config<unsigned, Dynamic>, Config<std::int64_t, Static>,
                               Config<std::int64_t, Dynamic>, Config<std::uint64_t, Static>>;
TYPED_TEST_SUITE(ParallelReduceRangeTest, Configs);

struct Twice {};
template <class Index>
struct SumIndices {
  KOKKOS_INLINE_FUNCTION void operator()(Index i, std::int64_t& sum) const { sum += static_cast<std::int64_t>(i); }
  KOKKOS_INLINE_FUNCTION void operator()(Twice, Index i, std::int64_t& sum) const {
    sum += 2 * static_cast<std::int64_t>(i);
  }
};

TYPED_TEST(ParallelReduceRangeTest, AddsUpEachIndexOnce) {
  using Index = typename TypeParam::Index;
  for (const std::int64_t count : sizes()) {
    for (const Index begin : {Index{0}, Index{5}}) {
      const Index end = static_cast<Index>(begin + static_cast<Index>(count));
      const std::int64_t expected = count * (count - 1) / 2 + count * static_cast<std::int64_t>(begin);
      std::int64_t sum = -1;
      Kokkos::parallel_reduce(
          Kokkos::RangePolicy<Offload, typename TypeParam::Schedule, Kokkos::IndexType<Index>>(begin, end),
          SumIndices<Index>(), sum);
      EXPECT_EQ(sum, expected);
      Kokkos::parallel_reduce(
          Kokkos::RangePolicy<Offload, typename TypeParam::Schedule, Kokkos::IndexType<Index>, Twice>(begin, end),
          SumIndices<Index>(), sum);
      EXPECT_EQ(sum, 2 * expected);
    }
  }
}

// -- every reducer of Kokkos, against the same reducer applied in one loop

KOKKOS_INLINE_FUNCTION int scrambled(int i) {
  return static_cast<int>((static_cast<unsigned>(i) * 2654435761u >> 7) % 1000u) - 300;
}

/// What index i adds, one overload for each kind of value.
template <class T>
requires std::is_arithmetic_v<T> KOKKOS_INLINE_FUNCTION void element(int i, T& value) {
  value = static_cast<T>(scrambled(i));
}
template <class T, class I>
KOKKOS_INLINE_FUNCTION void element(int i, Kokkos::ValLocScalar<T, I>& value) {
  value.val = static_cast<T>(scrambled(i));
  value.loc = static_cast<I>(i);
}
template <class T>
KOKKOS_INLINE_FUNCTION void element(int i, Kokkos::MinMaxScalar<T>& value) {
  value.min_val = value.max_val = static_cast<T>(scrambled(i));
}
template <class T, class I>
KOKKOS_INLINE_FUNCTION void element(int i, Kokkos::MinMaxLocScalar<T, I>& value) {
  value.min_val = value.max_val = static_cast<T>(scrambled(i));
  value.min_loc = value.max_loc = static_cast<I>(i);
}
template <class I>
KOKKOS_INLINE_FUNCTION void element(int i, Kokkos::FirstLocScalar<I>& value) {
  if (scrambled(i) > 500) value.min_loc_true = static_cast<I>(i);
}
template <class I>
KOKKOS_INLINE_FUNCTION void element(int i, Kokkos::LastLocScalar<I>& value) {
  if (scrambled(i) > 500) value.max_loc_true = static_cast<I>(i);
}
template <class I>
KOKKOS_INLINE_FUNCTION void element(int i, Kokkos::StdIsPartScalar<I>& value) {
  if (i < 100) {
    value.max_loc_true = static_cast<I>(i);
  } else {
    value.min_loc_false = static_cast<I>(i);
  }
}
template <class I>
KOKKOS_INLINE_FUNCTION void element(int i, Kokkos::StdPartPointScalar<I>& value) {
  if (i >= 100) value.min_loc_false = static_cast<I>(i);
}

template <class Reducer>
struct Fold {
  using Value = typename Reducer::value_type;
  KOKKOS_INLINE_FUNCTION void operator()(int i, Value& value) const {
    Value mine;
    const Reducer reducer(mine);
    reducer.init(mine);
    element(i, mine);
    reducer.join(value, mine);
  }
};

template <class T, class I>
bool same(const Kokkos::MinMaxLocScalar<T, I>& a, const Kokkos::MinMaxLocScalar<T, I>& b) {
  return a.min_val == b.min_val && a.max_val == b.max_val && a.min_loc == b.min_loc && a.max_loc == b.max_loc;
}
template <class T>
bool same(const T& a, const T& b) {
  if constexpr (requires { a == b; }) {
    return a == b;
  } else if constexpr (requires { a.loc; }) {
    return a.val == b.val && a.loc == b.loc;
  } else if constexpr (requires { a.min_val; }) {
    return a.min_val == b.min_val && a.max_val == b.max_val;
  } else {
    return std::memcmp(&a, &b, sizeof a) == 0;
  }
}

template <class R>
class ParallelReduceReducerTest : public testing::Test {};
using H = Kokkos::HostSpace;
using Reducers =
    testing::Types<Kokkos::Sum<int, H>, Kokkos::Sum<std::int64_t, H>, Kokkos::Prod<unsigned, H>, Kokkos::Min<double, H>,
                   Kokkos::Max<float, H>, Kokkos::LAnd<int, H>, Kokkos::LOr<bool, H>, Kokkos::BAnd<int, H>,
                   Kokkos::BOr<short, H>, Kokkos::MinLoc<int, int, H>, Kokkos::MaxLoc<double, std::int64_t, H>,
                   Kokkos::MinMax<int, H>, Kokkos::MinMaxLoc<int, int, H>, Kokkos::MinFirstLoc<int, int, H>,
                   Kokkos::MaxFirstLoc<int, int, H>, Kokkos::MinMaxFirstLastLoc<int, int, H>, Kokkos::FirstLoc<int, H>,
                   Kokkos::LastLoc<int, H>, Kokkos::StdIsPartitioned<int, H>, Kokkos::StdPartitionPoint<int, H>>;
TYPED_TEST_SUITE(ParallelReduceReducerTest, Reducers);

TYPED_TEST(ParallelReduceReducerTest, AgreesWithASerialLoop) {
  using Value = typename TypeParam::value_type;
  for (const std::int64_t count : sizes()) {
    Value expected;
    TypeParam(expected).init(expected);
    for (int i = 0; i < count; ++i) Fold<TypeParam>()(i, expected);
    Value value;
    Kokkos::parallel_reduce(count, Fold<TypeParam>(), TypeParam(value));
    // Where several places hold an extreme value, any of them is right.
    if constexpr (requires { value.loc; }) {
      if (count > 0 && value.val == expected.val) {
        EXPECT_EQ(static_cast<decltype(value.val)>(scrambled(static_cast<int>(value.loc))), value.val);
        value.loc = expected.loc;
      }
    } else if constexpr (requires { value.min_loc; }) {
      if (count > 0) {
        EXPECT_EQ(scrambled(static_cast<int>(value.min_loc)), value.min_val);
        EXPECT_EQ(scrambled(static_cast<int>(value.max_loc)), value.max_val);
        value.min_loc = expected.min_loc;
        value.max_loc = expected.max_loc;
      }
    }
    EXPECT_TRUE(same(value, expected)) << count;
  }
}

TEST(ParallelReduceTest, FirstAndLastPlacesAreExact) {
  Kokkos::MinFirstLoc<int, int, H>::value_type first;
  Kokkos::parallel_reduce(100000, Fold<Kokkos::MinFirstLoc<int, int, H>>(), Kokkos::MinFirstLoc<int, int, H>(first));
  Kokkos::MinMaxFirstLastLoc<int, int, H>::value_type both;
  Kokkos::parallel_reduce(100000, Fold<Kokkos::MinMaxFirstLastLoc<int, int, H>>(),
                          Kokkos::MinMaxFirstLastLoc<int, int, H>(both));
  int first_min = 0, last_max = 0;
  for (int i = 0; i < 100000; ++i) {
    if (scrambled(i) < scrambled(first_min)) first_min = i;
    if (scrambled(i) >= scrambled(last_max)) last_max = i;
  }
  EXPECT_EQ(first.loc, first_min);
  EXPECT_EQ(both.min_loc, first_min);
  EXPECT_EQ(both.max_loc, last_max);
}

// -- where a result can lie

template <class Space>
std::int64_t sum_into_view() {
  const Kokkos::View<std::int64_t, Space> result("result");
  Kokkos::parallel_reduce(1000, SumIndices<int>(), result);
  Kokkos::fence();
  return to_host(result)[0];
}
template <class Space>
std::int64_t reducer_into_view() {
  const Kokkos::View<std::int64_t, Space> result("result");
  Kokkos::parallel_reduce(1000, SumIndices<int>(), Kokkos::Sum<std::int64_t, Space>(result));
  Kokkos::fence();
  return to_host(result)[0];
}

TEST(ParallelReduceTest, ResultMayLieInAnySpace) {
  EXPECT_EQ(sum_into_view<Kokkos::HostSpace>(), 499500);
  EXPECT_EQ(sum_into_view<OffloadSpace>(), 499500);
  EXPECT_EQ(sum_into_view<OffloadPinnedSpace>(), 499500);
  EXPECT_EQ(reducer_into_view<Kokkos::HostSpace>(), 499500);
  EXPECT_EQ(reducer_into_view<OffloadSpace>(), 499500);
  EXPECT_EQ(reducer_into_view<OffloadPinnedSpace>(), 499500);
}

// -- functors with init, join and final

struct Product {
  using value_type = double;
  Kokkos::View<double> kept;
  KOKKOS_INLINE_FUNCTION void init(double& value) const { value = 1; }
  KOKKOS_INLINE_FUNCTION void join(double& value, const double& other) const { value *= other; }
  KOKKOS_INLINE_FUNCTION void final(double& value) const {
    value = -value;
    if (kept.data() != nullptr) kept() = value;
  }
  KOKKOS_INLINE_FUNCTION void operator()(int i, double& value) const { value *= 1 + i % 2; }
};

TEST(ParallelReduceTest, FunctorMayInitJoinAndFinish) {
  double result = 0;
  Kokkos::parallel_reduce(60, Product(), result);
  EXPECT_EQ(result, -1073741824.0);
  Kokkos::parallel_reduce(0, Product(), result);
  EXPECT_EQ(result, -1);
}

TEST(ParallelReduceTest, FinalAloneMayTakeTheResult) {
  const Kokkos::View<double> kept("kept");
  Kokkos::parallel_reduce(60, Product{kept});
  EXPECT_EQ(to_host(kept)[0], -1073741824.0);
  Kokkos::parallel_reduce(0, Product{kept});
  EXPECT_EQ(to_host(kept)[0], -1);
}

struct Columns {
  using value_type = double[];
  std::size_t value_count;
  KOKKOS_INLINE_FUNCTION void operator()(int i, double* sums) const {
    for (std::size_t k = 0; k < value_count; ++k) sums[k] += static_cast<double>(k) * i;
  }
};
struct Largest {
  using value_type = int[];
  unsigned value_count;
  KOKKOS_INLINE_FUNCTION void init(int* values) const {
    for (unsigned k = 0; k < value_count; ++k) values[k] = -1000;
  }
  KOKKOS_INLINE_FUNCTION void join(int* values, const int* others) const {
    for (unsigned k = 0; k < value_count; ++k) values[k] = values[k] < others[k] ? others[k] : values[k];
  }
  KOKKOS_INLINE_FUNCTION void operator()(int i, int* values) const {
    const int value = scrambled(i);
    int& largest = values[static_cast<unsigned>(i) % value_count];
    if (largest < value) largest = value;
  }
};

TEST(ParallelReduceTest, ArraysHaveARunTimeLength) {
  for (const std::size_t length : {std::size_t{1}, std::size_t{3}, std::size_t{5000}}) {
    std::vector<double> expected(length);
    for (std::size_t k = 0; k < length; ++k) expected[k] = static_cast<double>(k) * 499500;
    const Kokkos::View<double*, Kokkos::HostSpace> host("sums", length);
    Kokkos::parallel_reduce(1000, Columns{length}, host);
    Kokkos::fence();
    EXPECT_EQ(to_host(host), expected);
    const Kokkos::View<double*> view("sums", length);
    Kokkos::parallel_reduce(1000, Columns{length}, view);
    EXPECT_EQ(to_host(view), expected);
    Kokkos::parallel_reduce(0, Columns{length}, view);
    EXPECT_EQ(to_host(view), std::vector<double>(length));
  }
  int largest[7];
  Kokkos::parallel_reduce(10000, Largest{7}, largest);
  int expected[7] = {-1000, -1000, -1000, -1000, -1000, -1000, -1000};
  for (int i = 0; i < 10000; ++i) expected[i % 7] = std::max(expected[i % 7], scrambled(i));
  for (int k = 0; k < 7; ++k) EXPECT_EQ(largest[k], expected[k]);
}

struct Big {
  double values[3000] = {};
  KOKKOS_INLINE_FUNCTION Big& operator+=(const Big& other) {
    for (int k = 0; k < 3000; ++k) values[k] += other.values[k];
    return *this;
  }
};
struct AddToBig {
  KOKKOS_INLINE_FUNCTION void operator()(int i, Big& big) const { big.values[i % 3000] += i; }
};

TEST(ParallelReduceTest, ValuesMayBeLarge) {
  const Kokkos::View<Big> result("result");
  Kokkos::parallel_reduce(9000, AddToBig(), result);
  const auto sums = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), result);
  for (int k = 0; k < 3000; ++k) ASSERT_EQ(sums().values[k], 3 * k + 9000);
}

struct SumAndLargest {
  KOKKOS_INLINE_FUNCTION void operator()(int i, std::int64_t& sum, int& largest) const {
    sum += i;
    if (largest < scrambled(i)) largest = scrambled(i);
  }
};

TEST(ParallelReduceTest, SeveralReducersShareALoop) {
  int expected = std::numeric_limits<int>::min();
  for (int i = 0; i < 10000; ++i) expected = std::max(expected, scrambled(i));
  std::int64_t sum = 0;
  int largest = 0;
  Kokkos::parallel_reduce(Kokkos::RangePolicy<Offload>(0, 10000), SumAndLargest(), sum, Kokkos::Max<int>(largest));
  EXPECT_EQ(sum, 49995000);
  EXPECT_EQ(largest, expected);
  const Kokkos::View<std::int64_t, Kokkos::HostSpace> sum_view("sum");
  Kokkos::parallel_reduce(Kokkos::RangePolicy<Offload>(0, 10000), SumAndLargest(), sum_view, Kokkos::Max<int>(largest));
  EXPECT_EQ(sum_view(), 49995000);
}

struct Harmonic {
  KOKKOS_INLINE_FUNCTION void operator()(int i, double& sum) const { sum += 1.0 / (1 + i); }
};

TEST(ParallelReduceTest, FloatingPointSumsRepeatBitForBit) {
  for (const int count : {100, 1000, 100000, 1000000}) {
    double first = 0;
    Kokkos::parallel_reduce(count, Harmonic(), first);
    for (int repeat = 0; repeat < 10; ++repeat) {
      double again = 0;
      Kokkos::parallel_reduce(count, Harmonic(), again);
      ASSERT_EQ(again, first);
    }
  }
}

TEST(ParallelReduceTest, MoreIndicesThan32BitsCount) {
  const std::int64_t begin = (std::int64_t{1} << 32) - 50;
  std::int64_t sum = 0;
  Kokkos::parallel_reduce(Kokkos::RangePolicy<Offload>(begin, begin + 100), SumIndices<std::int64_t>(), sum);
  EXPECT_EQ(sum, 100 * begin + 4950);
}

}  // namespace
