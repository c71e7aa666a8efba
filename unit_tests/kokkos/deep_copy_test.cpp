// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/kokkos/Gantry_Kokkos.hpp>
#include <unit_tests/support/log_capture.hpp>

#include <Kokkos_DualView.hpp>
#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

namespace {

using gantry::Offload;
using gantry::OffloadPinnedSpace;
using gantry::OffloadSpace;
using Host = Kokkos::HostSpace;

/// Who orders a copy.
struct Nobody {};
struct DefaultInstance {};
struct OwnInstance {};
struct HostInstance {};

template <class Order, class To, class From>
void copy_and_wait(const To& to, const From& from) {
  if constexpr (std::is_same_v<Order, Nobody>) {
    Kokkos::deep_copy(to, from);
  } else if constexpr (std::is_same_v<Order, DefaultInstance>) {
    Kokkos::deep_copy(Offload(), to, from);
    Offload().fence();
  } else if constexpr (std::is_same_v<Order, OwnInstance>) {
    const Offload instance(0);
    Kokkos::deep_copy(instance, to, from);
    instance.fence();
  } else {
    const Kokkos::DefaultHostExecutionSpace instance;
    Kokkos::deep_copy(instance, to, from);
    instance.fence();
  }
}

template <class View>
auto on_host(const View& view) {
  return Kokkos::create_mirror_view_and_copy(Host(), view);
}

template <class Case>
class DeepCopyTest : public testing::Test {};
template <class To, class From, class Order>
using Case = std::tuple<To, From, Order>;
template <class Order>
struct Directions {
  using type =
      testing::Types<Case<OffloadSpace, Host, Order>, Case<Host, OffloadSpace, Order>,
                     Case<OffloadSpace, OffloadSpace, Order>, Case<OffloadPinnedSpace, Host, Order>,
                     Case<Host, OffloadPinnedSpace, Order>, Case<OffloadPinnedSpace, OffloadPinnedSpace, Order>,
                     Case<OffloadSpace, OffloadPinnedSpace, Order>, Case<OffloadPinnedSpace, OffloadSpace, Order>>;
};
template <class... Lists>
struct Joined;
template <class... A, class... B, class... Rest>
struct Joined<testing::Types<A...>, testing::Types<B...>, Rest...> : Joined<testing::Types<A..., B...>, Rest...> {};
template <class... A>
struct Joined<testing::Types<A...>> {
  using type = testing::Types<A...>;
};
using Cases = Joined<Directions<Nobody>::type, Directions<DefaultInstance>::type, Directions<OwnInstance>::type,
                     Directions<HostInstance>::type>::type;
TYPED_TEST_SUITE(DeepCopyTest, Cases);

TYPED_TEST(DeepCopyTest, BytesArriveInEveryDirection) {
  using To = std::tuple_element_t<0, TypeParam>;
  using From = std::tuple_element_t<1, TypeParam>;
  using Order = std::tuple_element_t<2, TypeParam>;
  for (const int n : {1, 1000, 100000}) {
    const Kokkos::View<int*, Host> source("source", n);
    for (int i = 0; i < n; ++i) source(i) = 3 * i + 1;
    const Kokkos::View<int*, From> from("from", n);
    const Kokkos::View<int*, To> to("to", n);
    Kokkos::deep_copy(from, source);
    copy_and_wait<Order>(to, from);
    const Kokkos::View<int*, Host> result("result", n);
    Kokkos::deep_copy(result, to);
    for (int i = 0; i < n; ++i) ASSERT_EQ(result(i), 3 * i + 1) << "of " << n;
  }
}

TYPED_TEST(DeepCopyTest, ScalarsArriveInEveryDirection) {
  using To = std::tuple_element_t<0, TypeParam>;
  using From = std::tuple_element_t<1, TypeParam>;
  using Order = std::tuple_element_t<2, TypeParam>;
  const Kokkos::View<double, From> from("from");
  const Kokkos::View<double, To> to("to");
  Kokkos::deep_copy(from, 2.5);
  copy_and_wait<Order>(to, from);
  double result = 0;
  Kokkos::deep_copy(result, to);
  EXPECT_EQ(result, 2.5);
}

TEST(DeepCopyLayoutTest, LayoutsConvertOnTheDevice) {
  const Kokkos::View<int**, Kokkos::LayoutRight, OffloadSpace> right("right", 13, 7);
  const auto numbers = Kokkos::create_mirror(right);
  for (int i = 0; i < 13; ++i)
    for (int j = 0; j < 7; ++j) numbers(i, j) = 100 * i + j;
  Kokkos::deep_copy(right, numbers);
  const Kokkos::View<int**, Kokkos::LayoutLeft, OffloadSpace> left("left", 13, 7);
  Kokkos::deep_copy(left, right);
  const auto result = on_host(left);
  for (int i = 0; i < 13; ++i)
    for (int j = 0; j < 7; ++j) ASSERT_EQ(result(i, j), 100 * i + j);
}

TEST(DeepCopyLayoutTest, StridedPartsAreCopiedAndFilledAndNothingElse) {
  const Kokkos::View<int***, Kokkos::LayoutRight, OffloadSpace> view("view", 6, 5, 4);
  Kokkos::deep_copy(view, 1);
  using Pair = Kokkos::pair<int, int>;
  const auto part = Kokkos::subview(view, Pair(1, 4), 2, Pair(1, 3));
  Kokkos::deep_copy(part, 9);
  const Kokkos::View<int**, Kokkos::LayoutRight, OffloadSpace> copy("copy", 3, 2);
  Kokkos::deep_copy(copy, part);
  const auto whole = on_host(view);
  const auto taken = on_host(copy);
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 5; ++j)
      for (int k = 0; k < 4; ++k) {
        const bool inside = i >= 1 && i < 4 && j == 2 && k >= 1 && k < 3;
        ASSERT_EQ(whole(i, j, k), inside ? 9 : 1) << i << ' ' << j << ' ' << k;
      }
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 2; ++k) ASSERT_EQ(taken(i, k), 9);
}

TEST(DeepCopyLayoutTest, RowsOfStridedColumnsWorkInRankOne) {
  const Kokkos::View<int**, Kokkos::LayoutRight, OffloadSpace> view("view", 8, 8);
  const Offload instance(0);
  Kokkos::deep_copy(instance, Kokkos::subview(view, Kokkos::ALL, 3), 4);
  instance.fence();
  const auto host = on_host(view);
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) ASSERT_EQ(host(i, j), j == 3 ? 4 : 0);
}

// The address of an empty View may be the end of its allocation, where nothing lies, or another allocation.
template <class Exec, class To, class From>
void copy_and_fill_empty(const Exec& exec, const To& to, const From& from) {
  ASSERT_EQ(to.size(), 0U);
  Kokkos::deep_copy(to, from);
  Kokkos::deep_copy(exec, to, from);
  Kokkos::deep_copy(to, 3);
  Kokkos::deep_copy(exec, to, 3);
}

TEST(EmptyViewTest, LayoutsOfViewsWithoutElementsConvert) {
  const Kokkos::View<int**, Kokkos::LayoutLeft, OffloadSpace> left("left", 0, 3);
  const Kokkos::View<int**, Kokkos::LayoutRight, OffloadSpace> right("right", 0, 3);
  copy_and_fill_empty(Offload(), right, left);
  copy_and_fill_empty(Offload(), left, right);
  const Kokkos::View<int***, Kokkos::LayoutLeft, OffloadSpace> cube_left("left", 2, 0, 3);
  const Kokkos::View<int***, Kokkos::LayoutRight, OffloadSpace> cube_right("right", 2, 0, 3);
  copy_and_fill_empty(Offload(), cube_right, cube_left);
}

TEST(EmptyViewTest, StridedPartsWithoutElementsAreLeftAlone) {
  const Kokkos::View<int**, Kokkos::LayoutRight, OffloadSpace> view("view", 4, 4);
  Kokkos::deep_copy(view, 1);
  using Pair = Kokkos::pair<int, int>;
  for (const int row : {0, 2, 4}) {
    const Pair none(row, row);
    copy_and_fill_empty(Offload(), Kokkos::subview(view, none, 3), Kokkos::subview(view, none, 1));
    copy_and_fill_empty(Offload(), Kokkos::subview(view, none, Pair(1, 3)), Kokkos::subview(view, none, Pair(2, 4)));
    copy_and_fill_empty(Offload(), Kokkos::subview(view, Kokkos::ALL, none), Kokkos::subview(view, Kokkos::ALL, none));
  }
  const auto host = on_host(view);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) ASSERT_EQ(host(i, j), 1);
}

TEST(EmptyViewTest, RankOneAndElementsThatAreMoreThanBytes) {
  struct Wrapped {
    int value;
    KOKKOS_FUNCTION Wrapped(int v = 5) : value(v) {}
    KOKKOS_FUNCTION Wrapped(const Wrapped& other) : value(other.value) {}
    KOKKOS_FUNCTION Wrapped& operator=(const Wrapped& other) {
      value = other.value;
      return *this;
    }
    KOKKOS_FUNCTION ~Wrapped() {}
  };
  gantry::test::LogCapture log;  // what goes wrong in a destructor is said there
  {
    const Kokkos::View<Wrapped*, OffloadSpace> to("to", 0);
    const Kokkos::View<Wrapped*, OffloadSpace> from("from", 0);
    copy_and_fill_empty(Offload(), to, from);
  }
  EXPECT_EQ(log.text(), "");
  const Kokkos::View<int*, OffloadSpace, Kokkos::MemoryTraits<Kokkos::Atomic>> atomic(
      Kokkos::View<int*, OffloadSpace>("atomic", 0));
  Kokkos::deep_copy(atomic, 3);
}

struct Triple {
  std::int32_t a, b, c;
  bool operator==(const Triple&) const = default;
};
struct Large {
  int values[3000];
};

template <class Value>
class FillTest : public testing::Test {};
using Values = testing::Types<char, std::int16_t, int, std::int64_t, float, double, Kokkos::complex<float>,
                              Kokkos::complex<double>, Kokkos::pair<int, char>, Triple, Kokkos::Array<double, 3>>;
TYPED_TEST_SUITE(FillTest, Values);

template <class Value>
Value some_value() {
  if constexpr (std::is_arithmetic_v<Value>) {
    return Value(77);
  } else if constexpr (requires(Value v) { v.real(); }) {
    return Value(1.5F, -2.5F);
  } else if constexpr (std::is_same_v<Value, Triple>) {
    return {1, -2, 3};
  } else if constexpr (std::is_same_v<Value, Kokkos::pair<int, char>>) {
    return {5, 'x'};
  } else {
    return {1.25, 2.5, 5.0};
  }
}

TYPED_TEST(FillTest, EveryKindOfScalarFillsAndZeroes) {
  for (const int n : {0, 1, 7, 10000}) {
    const Kokkos::View<TypeParam*, OffloadSpace> view("view", n);
    const TypeParam value = some_value<TypeParam>();
    auto host = on_host(view);
    for (int i = 0; i < n; ++i) ASSERT_TRUE(host(i) == TypeParam{});
    Kokkos::deep_copy(view, value);
    host = on_host(view);
    for (int i = 0; i < n; ++i) ASSERT_TRUE(host(i) == value) << i;
    Kokkos::deep_copy(Offload(), view, TypeParam{});
    Offload().fence();
    host = on_host(view);
    for (int i = 0; i < n; ++i) ASSERT_TRUE(host(i) == TypeParam{}) << i;
  }
}

TEST(FillTest, ValueOfARankZeroFillMayDieAtOnce) {
  const Offload instance(0);
  const Kokkos::View<Large, OffloadSpace> view("view");
  {
    auto value = std::make_unique<Large>();
    for (int i = 0; i < 3000; ++i) value->values[i] = i;
    Kokkos::deep_copy(instance, view, *value);
    for (int& each : value->values) each = -1;
  }
  instance.fence();
  const auto host = on_host(view);
  for (int i = 0; i < 3000; ++i) ASSERT_EQ(host().values[i], i);
}

TEST(FillTest, AtomicViewsAreFilled) {
  const Kokkos::View<int*, OffloadSpace> view("view", 100);
  Kokkos::deep_copy(Kokkos::View<int*, OffloadSpace, Kokkos::MemoryTraits<Kokkos::Atomic>>(view), 6);
  const auto host = on_host(view);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(host(i), 6);
}

TEST(MirrorTest, MirrorsOfDeviceViewsAreHostViews) {
  const Kokkos::View<int*, OffloadSpace> view("view", 10);
  const auto mirror = Kokkos::create_mirror_view(view);
  static_assert(std::is_same_v<decltype(mirror)::memory_space, Host>);
  for (int i = 0; i < 10; ++i) mirror(i) = i;
  Kokkos::deep_copy(view, mirror);
  const auto back = Kokkos::create_mirror_view_and_copy(Offload(), mirror);
  static_assert(std::is_same_v<decltype(back)::memory_space, OffloadSpace>);
  const auto same = Kokkos::create_mirror_view(Offload(), view);
  EXPECT_EQ(same.data(), view.data());
  const auto result = on_host(back);
  for (int i = 0; i < 10; ++i) ASSERT_EQ(result(i), i);
}

TEST(MirrorTest, DualViewsFollowTheirLastWriter) {
  Kokkos::DualView<int*, Offload> both("both", 50);
  both.modify_host();
  for (int i = 0; i < 50; ++i) both.view_host()(i) = i;
  both.sync_device();
  const auto device = both.view_device();
  both.modify_device();
  Kokkos::parallel_for(
      Kokkos::RangePolicy<Offload>(0, 50), KOKKOS_LAMBDA(int i) { device(i) *= 2; });
  both.sync_host();
  for (int i = 0; i < 50; ++i) ASSERT_EQ(both.view_host()(i), 2 * i);
}

TEST(MirrorTest, ResizeKeepsWhatFits) {
  Kokkos::View<int**, OffloadSpace> view("view", 4, 6);
  Kokkos::deep_copy(view, 3);
  Kokkos::resize(view, 6, 3);
  auto host = on_host(view);
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 3; ++j) ASSERT_EQ(host(i, j), i < 4 ? 3 : 0);
  Kokkos::realloc(view, 2, 2);
  host = on_host(view);
  EXPECT_EQ(host(1, 1), 0);
  EXPECT_EQ(view.label(), "view");
}

TEST(MirrorTest, CopiesOfViewsThatDoNotMatchAreErrors) {
  const Kokkos::View<int*, OffloadSpace> small("small", 5);
  const Kokkos::View<int*, OffloadSpace> large("large", 6);
  EXPECT_THROW(Kokkos::deep_copy(small, large), std::runtime_error);
}

TEST(MirrorTest, CopiesOfAddressesThatAreNoDeviceMemoryAreErrors) {
  int value = 3;
  const Kokkos::View<int*, OffloadSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> wrong(&value, 1);
  const Kokkos::View<int*, OffloadSpace> right("right", 1);
  EXPECT_THROW(Kokkos::deep_copy(right, wrong), gantry::Error);
  EXPECT_THROW(Kokkos::deep_copy(wrong, right), gantry::Error);
  EXPECT_EQ(value, 3);
}

}  // namespace
