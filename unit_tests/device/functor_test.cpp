// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/device/functor.hpp>

#include <gtest/gtest.h>

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace {

using gantry::impl::index_of;

struct Tag {};
struct TakesInt {
  void operator()(int) const {}
};
struct TakesConstReference {
  void operator()(const unsigned&) const noexcept {}
};
struct TakesTag {
  void operator()(Tag, short) const {}
};
struct TakesTagReference {
  void operator()(const Tag&, std::size_t) const {}
};
struct TakesDouble {
  void operator()(double) const {}
};
struct TakesBool {
  void operator()(bool) const {}
};
struct IsTemplate {
  template <class I>
  void operator()(I) const {}
};
struct IsOverloaded {
  void operator()(int) const {}
  void operator()(Tag, int) const {}
};
struct Reduces {
  void operator()(int, double&) const {}
};
struct TakesThree {
  void operator()(int, int, int, long&) const {}
};
struct TakesMixed {
  void operator()(int, long) const {}
};

TEST(FunctorTest, IndexTypeIsTheParameterOfASingleCallOperator) {
  EXPECT_TRUE((std::same_as<index_of<TakesInt, void, long>, int>));
  EXPECT_TRUE((std::same_as<index_of<TakesConstReference, void, long>, unsigned>));
  EXPECT_TRUE((std::same_as<index_of<TakesTag, Tag, long>, short>));
  EXPECT_TRUE((std::same_as<index_of<TakesTagReference, Tag, long>, std::size_t>));
  EXPECT_TRUE((std::same_as<index_of<Reduces, void, long>, int>));
  const auto lambda = [](std::int8_t) {};
  EXPECT_TRUE((std::same_as<index_of<decltype(lambda), void, long>, std::int8_t>));
}

TEST(FunctorTest, IndexTypeIsTheRangesOwnWhereTheFunctorLeavesItOpen) {
  EXPECT_TRUE((std::same_as<index_of<IsTemplate, void, long>, long>));
  EXPECT_TRUE((std::same_as<index_of<IsOverloaded, void, long>, long>));
  EXPECT_TRUE((std::same_as<index_of<IsOverloaded, Tag, long>, long>));
  EXPECT_TRUE((std::same_as<index_of<TakesDouble, void, long>, long>));
  EXPECT_TRUE((std::same_as<index_of<TakesBool, void, long>, long>));
  EXPECT_TRUE((std::same_as<index_of<void (*)(int), void, long>, long>));
}

TEST(FunctorTest, SeveralIndicesMustAgree) {
  EXPECT_TRUE((std::same_as<index_of<TakesThree, void, long, 3>, int>));
  EXPECT_TRUE((std::same_as<index_of<TakesThree, void, short, 4>, short>));
  EXPECT_TRUE((std::same_as<index_of<TakesMixed, void, short, 2>, short>));
}

}  // namespace
