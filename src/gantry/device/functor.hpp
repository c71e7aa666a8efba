// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

namespace gantry::impl {

/// Calls a functor, with its tag in front where it has one.
template <class Tag, class Functor, class... Arguments>
constexpr void call(const Functor& functor, Arguments&&... arguments) {
  if constexpr (std::is_void_v<Tag>) {
    functor(std::forward<Arguments>(arguments)...);
  } else {
    functor(Tag{}, std::forward<Arguments>(arguments)...);
  }
}

template <class... Types>
struct TypeList {};

/// The parameters of a functor's only operator(); nothing where it is a template, overloaded or no class.
template <class MemberFunction>
struct Parameters {
  using type = TypeList<>;
};
template <class F, class R, class... A>
struct Parameters<R (F::*)(A...) const> {
  using type = TypeList<A...>;
};
template <class F, class R, class... A>
struct Parameters<R (F::*)(A...) const noexcept> {
  using type = TypeList<A...>;
};
template <class Functor>
concept HasOneCallOperator = requires {
  &Functor::operator();
};
template <class Functor>
struct ParametersOf {
  using type = TypeList<>;
};
template <HasOneCallOperator Functor>
struct ParametersOf<Functor> : Parameters<decltype(&Functor::operator())> {};

template <class Parameter>
concept IndexParameter =
    std::integral<std::remove_cvref_t<Parameter>> && !std::same_as<std::remove_cvref_t<Parameter>, bool> &&
    (!std::is_lvalue_reference_v<Parameter> || std::is_const_v<std::remove_reference_t<Parameter>>);

/// The common type of the first Rank parameters, Fallback where they are not all the same integral type.
template <int Rank, class Fallback, class List>
struct LeadingIndex {
  using type = Fallback;
};
template <int Rank, class Fallback, IndexParameter First, class... Rest>
struct LeadingIndex<Rank, Fallback, TypeList<First, Rest...>> {
  using Index = std::remove_cvref_t<First>;
  using RestIndex = typename LeadingIndex<Rank - 1, void, TypeList<Rest...>>::type;
  using type = std::conditional_t<Rank == 1 || std::same_as<Index, RestIndex>, Index, Fallback>;
};

template <class Tag, class List>
struct WithoutTag {
  using type = List;
};
template <class Tag, class First, class... Rest>
struct WithoutTag<Tag, TypeList<First, Rest...>> {
  using type = std::conditional_t<std::is_void_v<Tag>, TypeList<First, Rest...>, TypeList<Rest...>>;
};

/// The integral type that a functor takes its Rank indices in; Member, the type that the range is given in, where that
/// cannot be told. A loop in any other type converts in every iteration, which keeps compilers from vectorising it.
template <class Functor, class Tag, class Member, int Rank = 1>
using index_of =
    typename LeadingIndex<Rank, Member, typename WithoutTag<Tag, typename ParametersOf<Functor>::type>::type>::type;

}  // namespace gantry::impl
