// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/device/functor.hpp>
#include <gantry/device/kernel.hpp>
#include <gantry/device/range.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace gantry {

namespace impl {

/// Whether a value is small enough to be accumulated in a local variable, which a compiler can keep in registers.
/// `Reducer::static_value_size()` is 0 for arrays, whose length is known at run time only.
template <class Reducer, class Value = typename Reducer::value_type>
inline constexpr bool accumulates_locally =
    Reducer::static_value_size() != 0 && Reducer::static_value_size() <= 1024 &&
    std::conjunction_v<std::is_default_constructible<Value>, std::is_move_constructible<Value>>;

/// How many values a share is accumulated in: several when they are small and plain.
template <class Reducer, class Value = typename Reducer::value_type>
inline constexpr int lanes = accumulates_locally<Reducer> && sizeof(Value) <= 16 && std::is_trivially_copyable_v<Value>
                                 ? 8
                                 : 1;

template <class Value>
void destroy_values(Value* values, unsigned count) noexcept {
  if constexpr (!std::is_trivially_destructible_v<Value>) std::destroy_n(values, count);
}

}  // namespace impl

/// Body that folds what a functor adds to a value over a domain.
///
/// `Pair` holds the functor and its reducer: get_functor() and get_reducer(). A reducer has value_type, init(values),
/// join(values, others), final(values), value_count() and copy(to, from), as Kokkos::Impl::FunctorAnalysis makes it.
/// With a fixed schedule the result is the same, bit for bit, for the same number of shares.
template <class Pair, class Domain, class Tag = void>
struct Reduce {
  using functor_type = typename Pair::functor_type;
  using Reducer = typename Pair::reducer_type;
  using Value = typename Reducer::value_type;
  static_assert(alignof(Value) <= 64, "The value's alignment is above that of scratch memory");

  Pair pair;
  Domain domain;
  std::int64_t count;

  /// Scratch that each share needs.
  [[nodiscard]] std::size_t share_scratch() const { return sizeof(Value) * pair.get_reducer().value_count(); }

  void host(HostWorker& worker) const {
    const Reducer& reducer = pair.get_reducer();
    Value* const scratch = static_cast<Value*>(worker.scratch);
    if constexpr (impl::accumulates_locally<Reducer>) {
      constexpr int lanes = impl::lanes<Reducer>;
      Value lane[lanes];
      for (Value& value : lane) reducer.init(&value);
      accumulate<lanes>(worker, [&](int l) -> Value& { return lane[l]; });
      for (int l = 1; l < lanes; ++l) reducer.join(&lane[0], &lane[l]);
      std::construct_at(scratch, std::move(lane[0]));
    } else {
      reducer.init(scratch);
      accumulate<1>(worker, [&](int) -> typename Reducer::reference_type { return Reducer::reference(scratch); });
    }
  }

  void host_join(const HostJoin& join) const {
    const Reducer& reducer = pair.get_reducer();
    Value* const total = static_cast<Value*>(join.share_scratch(0));
    if (count == 0) {
      reducer.init(total);
    } else {
      for (std::uint32_t share = 1; share < join.shares; ++share) {
        Value* const other = static_cast<Value*>(join.share_scratch(share));
        reducer.join(total, other);
        impl::destroy_values(other, reducer.value_count());
      }
    }
    reducer.final(total);
    if (join.result != nullptr) reducer.copy(static_cast<Value*>(join.result), total);
    impl::destroy_values(total, reducer.value_count());
  }

 private:
  /// Calls the functor for all items of the share, in turn with each of `lanes` values: a chain of additions to a
  /// single one would take the latency of an addition for each item.
  template <int lanes, class Values>
  void accumulate(HostWorker& worker, const Values& value) const {
    using Index = impl::index_of<functor_type, Tag, typename Domain::member_type, Domain::rank>;
    const auto& __restrict f = pair.get_functor();
    const Domain local = domain;
    for (WorkRange piece; worker.next(piece);) {
      local.template for_each_row<Index>(piece, [&](auto first, auto last, auto at) {
        using I = decltype(first);
        const auto add = [&](I i, int lane) {
          at(i, [&](auto... indices) { impl::call<Tag>(f, indices..., value(lane)); });
        };
        I i = first;
        if constexpr (lanes > 1) {
          const std::uint64_t length = static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first);
          const I stop = static_cast<I>(static_cast<std::uint64_t>(first) + (length - length % lanes));
          // clang-format off
          for (; i < stop; i += lanes) {
            [&]<int... lane>(std::integer_sequence<int, lane...>) {
              (add(static_cast<I>(i + lane), lane), ...);
            }(std::make_integer_sequence<int, lanes>());
          }
          // clang-format on
        }
        for (; i < last; ++i) add(i, 0);
      });
    }
  }
};

}  // namespace gantry
