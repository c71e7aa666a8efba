// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/kokkos/Gantry_Kokkos.hpp>

#include <gtest/gtest.h>

#include <utility>

namespace {

using gantry::Offload;
using gantry::OffloadSpace;

template <class Data, class Layout>
struct RankCase {
  using View = Kokkos::View<Data, Layout, OffloadSpace>;
};
template <class Case>
class DeepCopyRankTest : public testing::Test {};
using Right = Kokkos::LayoutRight;
using Left = Kokkos::LayoutLeft;
using RankCases = testing::Types<RankCase<int, Right>, RankCase<int*, Right>, RankCase<int**, Right>,
                                 RankCase<int***, Right>, RankCase<int****, Right>, RankCase<int*****, Right>,
                                 RankCase<int******, Right>, RankCase<int*******, Right>, RankCase<int********, Right>,
                                 RankCase<int* [3][2], Right>, RankCase<int**, Left>, RankCase<int***, Left>>;
TYPED_TEST_SUITE(DeepCopyRankTest, RankCases);

template <class View, std::size_t... I>
View make_view(const char* label, std::index_sequence<I...>) {
  constexpr std::size_t extents[] = {4, 3, 2, 3, 2, 2, 3, 2, 1};
  return View(label, extents[I]...);
}

TYPED_TEST(DeepCopyRankTest, FillsAndCopiesKeepEveryElement) {
  using View = typename TypeParam::View;
  const auto view = make_view<View>("view", std::make_index_sequence<View::rank_dynamic>());
  Kokkos::deep_copy(view, 5);
  const auto filled = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  for (std::size_t i = 0; i < filled.span(); ++i) ASSERT_EQ(filled.data()[i], 5);

  const auto numbers = Kokkos::create_mirror(view);
  for (std::size_t i = 0; i < numbers.span(); ++i) numbers.data()[i] = static_cast<int>(i);
  Kokkos::deep_copy(view, numbers);
  const auto copy = make_view<View>("copy", std::make_index_sequence<View::rank_dynamic>());
  Kokkos::deep_copy(Offload(), copy, view);
  Offload().fence();
  const auto result = Kokkos::create_mirror(copy);
  Kokkos::deep_copy(result, copy);
  for (std::size_t i = 0; i < result.span(); ++i) ASSERT_EQ(result.data()[i], static_cast<int>(i));
}

}  // namespace
