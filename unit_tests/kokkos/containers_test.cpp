// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What Kokkos builds on the patterns, used as programs use it.
#include <gantry/kokkos/Gantry_Kokkos.hpp>

#include <Kokkos_Random.hpp>
#include <Kokkos_SIMD.hpp>
#include <Kokkos_ScatterView.hpp>
#include <Kokkos_Sort.hpp>
#include <Kokkos_UnorderedMap.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "patterns.hpp"

namespace {

using gantry::Offload;
using gantry::test::to_host;
namespace KE = Kokkos::Experimental;

// -- tokens

template <class Token>
void count_users(const Token& token, const Kokkos::View<int*>& users, const Kokkos::View<int>& errors) {
  Kokkos::parallel_for(
      Kokkos::RangePolicy<Offload, Kokkos::Schedule<Kokkos::Dynamic>>(0, 20000), KOKKOS_LAMBDA(int) {
        const int mine = token.acquire();
        if (mine < 0 || mine >= token.size() || Kokkos::atomic_fetch_add(&users(mine), 1) != 0) {
          Kokkos::atomic_add(&errors(), 1);
        }
        Kokkos::atomic_add(&users(mine), -1);
        token.release(mine);
      });
}

template <class Token>
int errors_with(const Token& token) {
  const Kokkos::View<int> errors("errors");
  count_users(token, Kokkos::View<int*>("users", token.size()), errors);
  return to_host(errors)[0];
}

TEST(UniqueTokenTest, NoTokenHasTwoHoldersAtATime) {
  const int threads = Offload().concurrency();
  const KE::UniqueToken<Offload> instance;
  EXPECT_EQ(instance.size(), threads);
  EXPECT_EQ(errors_with(instance), 0);
  const KE::UniqueToken<Offload, KE::UniqueTokenScope::Global> global;
  EXPECT_EQ(global.size(), threads);
  EXPECT_EQ(errors_with(global), 0);
  for (const int size : {1, 2, 3 * threads}) {
    const KE::UniqueToken<Offload> sized(size);
    EXPECT_EQ(sized.size(), size);
    EXPECT_EQ(errors_with(sized), 0);
  }
}

// -- ScatterView

template <class Scatter>
void add_to_bins(const Scatter& scatter) {
  Kokkos::parallel_for(
      80000, KOKKOS_LAMBDA(int i) {
        auto access = scatter.access();
        access(i % 8) += i;
      });
}

template <class... Options>
std::vector<double> scattered() {
  const Kokkos::View<double*> bins("bins", 8);
  const KE::ScatterView<double*, Kokkos::LayoutRight, Offload, KE::ScatterSum, Options...> scatter(bins);
  add_to_bins(scatter);
  KE::contribute(bins, scatter);
  return to_host(bins);
}

TEST(ScatterViewTest, AddsUpWithAndWithoutCopies) {
  std::vector<double> expected(8);
  for (int i = 0; i < 80000; ++i) expected[static_cast<std::size_t>(i % 8)] += i;
  EXPECT_EQ(scattered<>(), expected);
  EXPECT_EQ((scattered<KE::ScatterDuplicated, KE::ScatterNonAtomic>()), expected);
  EXPECT_EQ((scattered<KE::ScatterNonDuplicated, KE::ScatterAtomic>()), expected);
}

// -- random numbers, sorting, maps

TEST(RandomTest, PoolFillsAView) {
  const Kokkos::View<double*> values("values", 100000);
  Kokkos::Random_XorShift64_Pool<> pool(12345);
  Kokkos::fill_random(values, pool, 0.0, 1.0);
  double sum = 0;
  for (const double value : to_host(values)) {
    ASSERT_TRUE(value >= 0 && value < 1);
    sum += value;
  }
  EXPECT_NEAR(sum / 100000, 0.5, 0.01);
}

void permute(const Kokkos::View<int*>& values) {
  Kokkos::parallel_for(values.extent(0), KOKKOS_LAMBDA(int i) { values(i) = (i * 7919) % 10007; });
}

TEST(SortTest, OrdersAView) {
  const Kokkos::View<int*> values("values", 10000);
  permute(values);
  std::vector<int> expected = to_host(values);
  std::sort(expected.begin(), expected.end());
  Kokkos::sort(values);
  EXPECT_EQ(to_host(values), expected);
}

void insert(const Kokkos::UnorderedMap<int, int>& map) {
  Kokkos::parallel_for(10000, KOKKOS_LAMBDA(int i) { map.insert(i % 5000, 3 * (i % 5000)); });
}
int wrong_values(const Kokkos::UnorderedMap<int, int>& map) {
  int wrong = 0;
  Kokkos::parallel_reduce(
      5000,
      KOKKOS_LAMBDA(int i, int& to) {
        const auto place = map.find(i);
        if (!map.valid_at(place) || map.value_at(place) != 3 * i) ++to;
      },
      wrong);
  return wrong;
}

TEST(UnorderedMapTest, InsertsFindsAndGrows) {
  Kokkos::UnorderedMap<int, int> map(20000);
  insert(map);
  EXPECT_EQ(map.size(), 5000u);
  EXPECT_EQ(wrong_values(map), 0);
  map.rehash(50000);
  EXPECT_EQ(map.size(), 5000u);
  EXPECT_EQ(wrong_values(map), 0);
}

// -- vectors of numbers

using Simd = KE::simd<double>;

void fill_with_simd(const Kokkos::View<double*>& values) {
  Kokkos::parallel_for(
      values.extent(0) / Simd::size(), KOKKOS_LAMBDA(int i) {
        KE::simd_unchecked_store(Simd(2.5), &values(i * static_cast<int>(Simd::size())), KE::simd_flag_default);
      });
}

TEST(SimdTest, IsWhatItIsOnTheHost) {
  using OnHost = KE::simd_abi::Impl::ForSpace<Kokkos::DefaultHostExecutionSpace>::type<double>;
  EXPECT_TRUE((std::is_same_v<Simd::abi_type, OnHost>));
  const Kokkos::View<double*> values("values", 64);
  fill_with_simd(values);
  EXPECT_EQ(to_host(values), std::vector<double>(64, 2.5));
}

// -- elements that are more than bytes

struct OwnsMemory {
  int* value;
  static inline std::atomic<int> live{0};
  OwnsMemory() : value(new int(5)) { ++live; }
  OwnsMemory(const OwnsMemory& other) : value(new int(*other.value)) { ++live; }
  OwnsMemory& operator=(const OwnsMemory& other) {
    *value = *other.value;
    return *this;
  }
  ~OwnsMemory() {
    delete value;
    --live;
  }
};

int sum_of(const Kokkos::View<OwnsMemory*>& elements) {
  int sum = 0;
  Kokkos::parallel_reduce(elements.extent(0), KOKKOS_LAMBDA(int i, int& to) { to += *elements(i).value; }, sum);
  return sum;
}

TEST(ViewElementTest, ElementsAreConstructedAndDestroyedOnTheDevice) {
  {
    const Kokkos::View<OwnsMemory*> elements("elements", 1000);
    EXPECT_EQ(sum_of(elements), 5000);
    EXPECT_EQ(OwnsMemory::live, 1000);
  }
  Kokkos::fence();
  EXPECT_EQ(OwnsMemory::live, 0);
}

}  // namespace
