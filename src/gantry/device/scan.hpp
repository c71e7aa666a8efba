// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/device/functor.hpp>
#include <gantry/device/kernel.hpp>
#include <gantry/device/range.hpp>
#include <gantry/device/reduce.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace gantry {

/// Body of a prefix sum: calls functor(i, value, false) to get the sum of each share (phase 0), gives each share the sum
/// of those before it, then calls functor(i, value, true) (phase 1). A launch of one share makes the second pass only.
///
/// `Pair` is as for Reduce. The launch must have a fixed schedule and two phases; its result, if any, is the value after
/// the last index.
template <class Pair, class Domain, class Tag = void>
struct Scan {
  using functor_type = typename Pair::functor_type;
  using Reducer = typename Pair::reducer_type;
  using Value = typename Reducer::value_type;
  static_assert(alignof(Value) <= 64, "The value's alignment is above that of scratch memory");
  static constexpr std::uint8_t phases = 2;

  Pair pair;
  Domain domain;
  std::int64_t count;

  /// Scratch that each share needs: its sum and the sum of the shares before it.
  [[nodiscard]] std::size_t share_scratch() const { return 2 * sizeof(Value) * pair.get_reducer().value_count(); }

  void host(HostWorker& worker) const {
    const Reducer& reducer = pair.get_reducer();
    Value* const sum = static_cast<Value*>(worker.scratch);
    Value* const prefix = sum + reducer.value_count();
    if (worker.phase == 0) {
      if (worker.shares > 1) start<false>(worker, sum);
    } else if (worker.shares == 1) {
      start<true>(worker, prefix);
    } else {
      finish(worker, prefix);
    }
  }

  void host_join(const HostJoin& join) const {
    const Reducer& reducer = pair.get_reducer();
    const unsigned length = reducer.value_count();
    const auto sum = [&](std::uint32_t share) { return static_cast<Value*>(join.share_scratch(share)); };
    const auto prefix = [&](std::uint32_t share) { return sum(share) + length; };
    const std::uint32_t shares = count == 0 ? 1 : join.shares;
    if (join.phase == 0) {
      if (shares == 1) return;
      reducer.init(prefix(0));
      for (std::uint32_t share = 1; share < shares; ++share) {
        std::uninitialized_copy_n(prefix(share - 1), length, prefix(share));
        reducer.join(prefix(share), sum(share - 1));
      }
      for (std::uint32_t share = 0; share < shares; ++share) impl::destroy_values(sum(share), length);
      return;
    }
    if (count == 0) reducer.init(prefix(0));
    if (join.result != nullptr) reducer.copy(static_cast<Value*>(join.result), prefix(shares - 1));
    for (std::uint32_t share = 0; share < shares; ++share) impl::destroy_values(prefix(share), length);
  }

 private:
  /// Passes over the share with an initial value; leaves the outcome in `values`, which is uninitialised memory.
  template <bool Final>
  void start(HostWorker& worker, Value* values) const {
    const Reducer& reducer = pair.get_reducer();
    if constexpr (impl::accumulates_locally<Reducer>) {
      Value value;
      reducer.init(&value);
      pass<Final>(worker, value);
      std::construct_at(values, std::move(value));
    } else {
      pass<Final>(worker, reducer.init(values));
    }
  }

  /// The final pass from what `values` hold, which becomes the outcome.
  void finish(HostWorker& worker, Value* values) const {
    if constexpr (impl::accumulates_locally<Reducer>) {
      Value value = *values;
      pass<true>(worker, value);
      *values = std::move(value);
    } else {
      pass<true>(worker, Reducer::reference(values));
    }
  }

  template <bool Final, class Reference>
  void pass(HostWorker& worker, Reference&& value) const {
    using Index = impl::index_of<functor_type, Tag, typename Domain::member_type>;
    const auto& __restrict f = pair.get_functor();
    const Domain local = domain;
    for (WorkRange piece; worker.next(piece);) {
      local.template for_each_row<Index>(piece, [&](auto first, auto last, auto at) {
        for (auto i = first; i < last; ++i) {
          at(i, [&](auto index) { impl::call<Tag>(f, index, value, Final); });
        }
      });
    }
  }
};

}  // namespace gantry
