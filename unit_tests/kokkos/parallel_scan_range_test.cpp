// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/kokkos/Gantry_Kokkos.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "patterns.hpp"

namespace {

using gantry::Offload;
using gantry::OffloadPinnedSpace;
using gantry::OffloadSpace;
using gantry::test::sizes;
using gantry::test::to_host;

template <class Index>
struct Prefix {
  Kokkos::View<std::int64_t*> before, after;
  std::int64_t begin;
  KOKKOS_INLINE_FUNCTION void operator()(Index i, std::int64_t& sum, bool final) const {
    const std::int64_t k = static_cast<std::int64_t>(i) - begin;
    if (final) before(k) = sum;
    sum += static_cast<std::int64_t>(i);
    if (final) after(k) = sum;
  }
};

template <class I, class S>
struct Config {
  using Index = I;
  using Schedule = S;
};
template <class C>
class ParallelScanRangeTest : public testing::Test {};
using Configs =
    testing::Types<Config<int, Kokkos::Schedule<Kokkos::Static>>, Config<unsigned, Kokkos::Schedule<Kokkos::Dynamic>>,
                   Config<std::int64_t, Kokkos::Schedule<Kokkos::Static>>,
                   Config<std::uint64_t, Kokkos::Schedule<Kokkos::Dynamic>>>;
TYPED_TEST_SUITE(ParallelScanRangeTest, Configs);

TYPED_TEST(ParallelScanRangeTest, InclusiveAndExclusiveSumsAndTotal) {
  using Index = typename TypeParam::Index;
  using Policy = Kokkos::RangePolicy<Offload, typename TypeParam::Schedule, Kokkos::IndexType<Index>>;
  for (const std::int64_t count : sizes()) {
    const Index begin = 7;
    const Index end = static_cast<Index>(begin + static_cast<Index>(count));
    const Prefix<Index> functor{Kokkos::View<std::int64_t*>("before", static_cast<std::size_t>(count)),
                                Kokkos::View<std::int64_t*>("after", static_cast<std::size_t>(count)), 7};
    std::int64_t total = -1;
    Kokkos::parallel_scan(Policy(begin, end), functor, total);
    const auto check = [&] {
      const auto before = to_host(functor.before);
      const auto after = to_host(functor.after);
      std::int64_t sum = 0;
      for (std::int64_t i = 0; i < count; ++i) {
        ASSERT_EQ(before[static_cast<std::size_t>(i)], sum);
        sum += i + 7;
        ASSERT_EQ(after[static_cast<std::size_t>(i)], sum);
      }
      EXPECT_EQ(total, sum);
    };
    check();
    Kokkos::deep_copy(functor.after, -1);
    Kokkos::parallel_scan(Policy(begin, end), functor);
    check();
  }
}

struct Tagged {
  struct Up {};
  struct Down {};
  Kokkos::View<int*> to;
  KOKKOS_INLINE_FUNCTION void operator()(Up, int i, int& sum, bool final) const {
    sum += 1;
    if (final) to(i) = sum;
  }
  KOKKOS_INLINE_FUNCTION void operator()(const Down&, int i, int& sum, bool final) const {
    sum -= 1;
    if (final) to(i) = sum;
  }
};

TEST(ParallelScanTest, CallsTheOperatorOfTheWorkTag) {
  const Tagged functor{Kokkos::View<int*>("to", 1000)};
  Kokkos::parallel_scan(Kokkos::RangePolicy<Offload, Tagged::Up>(0, 1000), functor);
  EXPECT_EQ(to_host(functor.to)[999], 1000);
  int total = 0;
  Kokkos::parallel_scan(Kokkos::RangePolicy<Offload, Tagged::Down>(0, 1000), functor, total);
  EXPECT_EQ(to_host(functor.to)[500], -501);
  EXPECT_EQ(total, -1000);
}

template <class Space>
std::int64_t total_in() {
  const Prefix<int> functor{Kokkos::View<std::int64_t*>("before", 1000), Kokkos::View<std::int64_t*>("after", 1000), 0};
  const Kokkos::View<std::int64_t, Space> total("total");
  Kokkos::parallel_scan(1000, functor, total);
  Kokkos::fence();
  return to_host(total)[0];
}

TEST(ParallelScanTest, TotalMayLieInAnySpace) {
  EXPECT_EQ(total_in<Kokkos::HostSpace>(), 499500);
  EXPECT_EQ(total_in<OffloadSpace>(), 499500);
  EXPECT_EQ(total_in<OffloadPinnedSpace>(), 499500);
}

struct RunningMaximum {
  using value_type = int;
  Kokkos::View<int*> to;
  KOKKOS_INLINE_FUNCTION void init(int& value) const { value = -1; }
  KOKKOS_INLINE_FUNCTION void join(int& value, const int& other) const { value = value < other ? other : value; }
  KOKKOS_INLINE_FUNCTION void operator()(int i, int& value, bool final) const {
    join(value, (i * 37) % 1009);
    if (final) to(i) = value;
  }
};

TEST(ParallelScanTest, FunctorMayInitAndJoin) {
  const RunningMaximum functor{Kokkos::View<int*>("to", 100000)};
  Kokkos::parallel_scan(100000, functor);
  const auto values = to_host(functor.to);
  int expected = -1;
  for (int i = 0; i < 100000; ++i) {
    expected = std::max(expected, (i * 37) % 1009);
    ASSERT_EQ(values[static_cast<std::size_t>(i)], expected);
  }
}

struct CountDigits {
  using value_type = int[];
  unsigned value_count;
  Kokkos::View<int**> to;
  KOKKOS_INLINE_FUNCTION void operator()(int i, int* counts, bool final) const {
    counts[static_cast<unsigned>(i) % value_count] += 1;
    if (final) {
      for (unsigned k = 0; k < value_count; ++k) to(i, k) = counts[k];
    }
  }
};

TEST(ParallelScanTest, ArraysHaveARunTimeLength) {
  for (const int count : {1, 5, 10000}) {
    const Kokkos::View<int**> to("to", static_cast<std::size_t>(count), 6);
    Kokkos::parallel_scan(count, CountDigits{6, to});
    const auto values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), to);
    int expected[6] = {};
    for (int i = 0; i < count; ++i) {
      ++expected[i % 6];
      for (int k = 0; k < 6; ++k) ASSERT_EQ(values(i, k), expected[k]);
    }
  }
}

struct HarmonicPrefix {
  Kokkos::View<double*> to;
  KOKKOS_INLINE_FUNCTION void operator()(int i, double& sum, bool final) const {
    sum += 1.0 / (1 + i);
    if (final) to(i) = sum;
  }
};

TEST(ParallelScanTest, FloatingPointSumsRepeatBitForBit) {
  for (const int count : {100, 10000, 300000}) {
    const HarmonicPrefix functor{Kokkos::View<double*>("to", static_cast<std::size_t>(count))};
    Kokkos::parallel_scan(count, functor);
    const auto first = to_host(functor.to);
    for (int repeat = 0; repeat < 10; ++repeat) {
      Kokkos::parallel_scan(count, functor);
      ASSERT_EQ(to_host(functor.to), first);
    }
  }
}

}  // namespace
