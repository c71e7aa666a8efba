// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What Kokkos builds on the patterns, used as programs use it.
#include <gantry/kokkos/Gantry_Kokkos.hpp>

#include <Kokkos_Random.hpp>
#include <Kokkos_ScatterView.hpp>
#include <Kokkos_Sort.hpp>
#include <Kokkos_UnorderedMap.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <vector>

#include "patterns.hpp"

namespace {

using gantry::Offload;
using gantry::test::to_host;
namespace KE = Kokkos::Experimental;

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
  Kokkos::parallel_for(
      values.extent(0), KOKKOS_LAMBDA(int i) { values(i) = (i * 7919) % 10007; });
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
  Kokkos::parallel_for(
      10000, KOKKOS_LAMBDA(int i) { map.insert(i % 5000, 3 * (i % 5000)); });
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
  Kokkos::parallel_reduce(
      elements.extent(0), KOKKOS_LAMBDA(int i, int& to) { to += *elements(i).value; }, sum);
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
