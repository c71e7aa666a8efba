// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/device/functor.hpp>
#include <gantry/device/kernel.hpp>
#include <gantry/device/range.hpp>
#include <gantry/device/reduce.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace gantry {

/// Body of a prefix sum: calls functor(i, value, false) to get the sum of each block of indices (phase 0), gives each
/// block the sum of those before it, then calls functor(i, value, true) (phase 1). A launch of one share makes the
/// second pass only, as one block. Values are joined in the order of their indices.
///
/// `Pair` is as for Reduce. The launch must have a fixed schedule and two phases; its result, if any, is the value
/// after the last index.
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

  /// Scratch that each share needs: the sum of each block, and the sum of all indices before each block.
  [[nodiscard]] std::size_t share_scratch() const {
    return 2 * blocks * sizeof(Value) * pair.get_reducer().value_count();
  }

  void host(HostWorker& worker) const {
    if (worker.phase == 0) {
      if (worker.shares > 1) start<false, blocks>(worker, sum(worker.scratch, 0));
    } else if (worker.shares == 1) {
      start<true, 1>(worker, prefix(worker.scratch, blocks - 1));
    } else {
      finish(worker, prefix(worker.scratch, 0));
    }
  }

  void host_join(const HostJoin& join) const {
    const Reducer& reducer = pair.get_reducer();
    const unsigned length = reducer.value_count();
    const std::uint32_t shares = count == 0 ? 1 : join.shares;
    Value* const total = prefix(join.share_scratch(shares - 1), blocks - 1);
    if (join.phase > 0) {
      if (count == 0) reducer.init(total);
      if (join.result != nullptr) reducer.copy(static_cast<Value*>(join.result), total);
      for (std::uint32_t share = 0; share < shares; ++share) {
        impl::destroy_values(prefix(join.share_scratch(share), 0), length * blocks);
      }
    } else if (shares > 1) {
      const Value* before = nullptr;
      const Value* before_sum = nullptr;
      for (std::uint32_t share = 0; share < shares; ++share) {
        void* const scratch = join.share_scratch(share);
        for (int block = 0; block < blocks; ++block) {
          Value* const here = prefix(scratch, block);
          if (before == nullptr) {
            reducer.init(here);
          } else {
            std::uninitialized_copy_n(before, length, here);
            reducer.join(here, before_sum);
          }
          before = here;
          before_sum = sum(scratch, block);
        }
      }
      for (std::uint32_t share = 0; share < shares; ++share) {
        impl::destroy_values(sum(join.share_scratch(share), 0), length * blocks);
      }
    }
  }

 private:
  /// Blocks of a share: several when values are small and plain, so that additions to them overlap.
  static constexpr int blocks = impl::lanes<Reducer> > 1 ? 4 : 1;

  Value* sum(void* scratch, int block) const {
    return static_cast<Value*>(scratch) + static_cast<unsigned>(block) * pair.get_reducer().value_count();
  }
  Value* prefix(void* scratch, int block) const { return sum(scratch, blocks + block); }

  /// Passes over the share with initial values; leaves the outcome in `values`, which is uninitialised memory.
  template <bool Final, int Blocks>
  void start(HostWorker& worker, Value* values) const {
    const Reducer& reducer = pair.get_reducer();
    if constexpr (impl::accumulates_locally<Reducer>) {
      Value value[Blocks];
      for (Value& one : value) reducer.init(&one);
      pass<Final, Blocks>(worker, [&](int block) -> Value& { return value[block]; });
      std::uninitialized_move_n(value, Blocks, values);
    } else {
      reducer.init(values);
      pass<Final, 1>(worker, [&](int) -> typename Reducer::reference_type { return Reducer::reference(values); });
    }
  }

  /// The final pass from what `values` hold, which becomes the outcome.
  void finish(HostWorker& worker, Value* values) const {
    if constexpr (impl::accumulates_locally<Reducer>) {
      Value value[blocks];
      std::copy_n(values, blocks, value);
      pass<true, blocks>(worker, [&](int block) -> Value& { return value[block]; });
      std::move(value, value + blocks, values);
    } else {
      pass<true, 1>(worker, [&](int) -> typename Reducer::reference_type { return Reducer::reference(values); });
    }
  }

  /// Calls the functor for all indices of the share: block by block in each value, and all blocks at the same time.
  template <bool Final, int Blocks, class Values>
  void pass(HostWorker& worker, const Values& value) const {
    using Index = impl::index_of<functor_type, Tag, typename Domain::member_type>;
    const auto& __restrict f = pair.get_functor();
    const Domain local = domain;
    for (WorkRange piece; worker.next(piece);) {
      local.template for_each_row<Index>(piece, [&](auto first, auto last, auto at) {
        using I = decltype(first);
        const auto add = [&](I i, int block) {
          at(i, [&](auto index) { impl::call<Tag>(f, index, value(block), Final); });
        };
        I i = first;
        if constexpr (Blocks > 1) {
          const std::uint64_t begin = static_cast<std::uint64_t>(first);
          const std::uint64_t length = (static_cast<std::uint64_t>(last) - begin) / Blocks;
          // clang-format off
          for (std::uint64_t k = 0; k < length; ++k) {
            [&]<int... block>(std::integer_sequence<int, block...>) {
              (add(static_cast<I>(begin + block * length + k), block), ...);
            }(std::make_integer_sequence<int, Blocks>());
          }
          // clang-format on
          i = static_cast<I>(begin + Blocks * length);
        }
        for (; i < last; ++i) add(i, Blocks - 1);
      });
    }
  }
};

}  // namespace gantry
