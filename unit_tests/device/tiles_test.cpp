// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/device/for_each.hpp>
#include <gantry/device/kernel.hpp>
#include <gantry/device/tiles.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "local_queue.hpp"

namespace {

using gantry::Fastest;
using gantry::Tiles;

template <class T>
T make_tiles(std::array<std::int64_t, T::rank> lower, std::array<std::int64_t, T::rank> upper,
             std::array<std::int64_t, T::rank> tile) {
  T tiles;
  for (int d = 0; d < T::rank; ++d) {
    tiles.lower[d] = static_cast<typename T::member_type>(lower[d]);
    tiles.upper[d] = static_cast<typename T::member_type>(upper[d]);
    tiles.tile[d] = tile[d];
    tiles.tiles[d] = (upper[d] - lower[d] + tile[d] - 1) / tile[d];
  }
  return tiles;
}

template <class T>
std::int64_t count(const T& tiles) {
  std::int64_t product = 1;
  for (const std::int64_t side : tiles.tiles) product *= side;
  return product;
}

template <class T>
using Visits = std::vector<std::array<std::int64_t, T::rank>>;

/// The indices in the order of their visits.
template <class Index, class T>
Visits<T> visit(const T& tiles) {
  Visits<T> seen;
  tiles.template for_each_row<Index>({0, count(tiles)}, [&](auto first, auto last, auto at) {
    for (auto i = first; i < last; ++i) at(i, [&](auto... index) { seen.push_back({std::int64_t{index}...}); });
  });
  return seen;
}

TEST(TilesTest, LastIndexRunsFastestWithinATileAndAmongTiles) {
  using T = Tiles<int, 2, Fastest::last, Fastest::last>;
  EXPECT_EQ(visit<int>(make_tiles<T>({0, 10}, {2, 13}, {1, 2})),
            (Visits<T>{{0, 10}, {0, 11}, {0, 12}, {1, 10}, {1, 11}, {1, 12}}));
  EXPECT_EQ(visit<int>(make_tiles<T>({0, 0}, {2, 3}, {2, 2})),
            (Visits<T>{{0, 0}, {0, 1}, {1, 0}, {1, 1}, {0, 2}, {1, 2}}));
}

TEST(TilesTest, FirstIndexRunsFastestWithinATileAndAmongTiles) {
  using T = Tiles<int, 2, Fastest::first, Fastest::first>;
  EXPECT_EQ(visit<int>(make_tiles<T>({0, 0}, {3, 2}, {2, 2})),
            (Visits<T>{{0, 0}, {1, 0}, {0, 1}, {1, 1}, {2, 0}, {2, 1}}));
}

TEST(TilesTest, DirectionsAreIndependent) {
  using T = Tiles<int, 2, Fastest::first, Fastest::last>;
  EXPECT_EQ(visit<int>(make_tiles<T>({0, 0}, {4, 3}, {2, 2})), (Visits<T>{{0, 0},
                                                                          {0, 1},
                                                                          {1, 0},
                                                                          {1, 1},
                                                                          {2, 0},
                                                                          {2, 1},
                                                                          {3, 0},
                                                                          {3, 1},  //
                                                                          {0, 2},
                                                                          {1, 2},
                                                                          {2, 2},
                                                                          {3, 2}}));
}

template <int Rank>
void each_index_once() {
  using T = Tiles<std::int64_t, Rank, Fastest::last, Fastest::last>;
  std::array<std::int64_t, Rank> lower{}, upper{}, tile{};
  std::size_t volume = 1;
  for (int d = 0; d < Rank; ++d) {
    lower[d] = d - 2;
    upper[d] = lower[d] + 3 + d % 2;
    tile[d] = 1 + d % 3;
    volume *= static_cast<std::size_t>(upper[d] - lower[d]);
  }
  std::map<std::array<std::int64_t, Rank>, int> visits;
  for (const auto& index : visit<int>(make_tiles<T>(lower, upper, tile))) ++visits[index];
  EXPECT_EQ(visits.size(), volume);
  for (const auto& [index, times] : visits) {
    EXPECT_EQ(times, 1);
    for (int d = 0; d < Rank; ++d) {
      EXPECT_GE(index[d], lower[d]);
      EXPECT_LT(index[d], upper[d]);
    }
  }
}

TEST(TilesTest, VisitsEachIndexOnceInAllRanks) {
  each_index_once<2>();
  each_index_once<3>();
  each_index_once<4>();
  each_index_once<5>();
  each_index_once<6>();
}

TEST(TilesTest, WorksAtTheLimitsOfTheIndexType) {
  using T = Tiles<std::int64_t, 2, Fastest::last, Fastest::last>;
  const std::int64_t max = std::numeric_limits<std::int64_t>::max();
  const std::int64_t min = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(visit<std::int64_t>(make_tiles<T>({max - 2, min}, {max, min + 1}, {3, 2})),
            (Visits<T>{{max - 2, min}, {max - 1, min}}));
}

TEST(TilesTest, BodyVisitsAllTilesOfAllShares) {
  using T = Tiles<int, 3, Fastest::last, Fastest::last>;
  const T tiles = make_tiles<T>({0, 0, 0}, {5, 6, 7}, {2, 2, 4});
  std::vector<int> visits(5 * 6 * 7);
  int* const to = visits.data();
  const auto functor = [to](int i, int j, int k) { ++to[(i * 6 + j) * 7 + k]; };
  const gantry::ForEach<decltype(functor), T> body{functor, tiles};
  gantry::Launch launch;
  launch.count = count(tiles);
  ASSERT_TRUE(gantry::test::LocalQueue(4).launch(gantry::Kernel<decltype(body)>::info, launch, &body).ok());
  EXPECT_EQ(visits, std::vector<int>(5 * 6 * 7, 1));
}

}  // namespace
