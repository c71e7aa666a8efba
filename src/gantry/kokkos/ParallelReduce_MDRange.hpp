// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/device/reduce.hpp>
#include <gantry/kokkos/Launch.hpp>
#include <gantry/kokkos/MDRange.hpp>
#include <gantry/kokkos/Offload.hpp>
#include <gantry/kokkos/policies.hpp>

#include <limits>

/// Kokkos::parallel_reduce over an MDRangePolicy: a tile is the unit of work; the result as over a RangePolicy.
template <class FunctorReducer, class... Traits>
class Kokkos::Impl::ParallelReduce<FunctorReducer, Kokkos::MDRangePolicy<Traits...>, gantry::Offload> {
  using Policy = Kokkos::MDRangePolicy<Traits...>;
  using Body = gantry::Reduce<FunctorReducer, gantry::impl::TilesOf<Policy>, typename Policy::work_tag>;
  static constexpr const char* pattern = "Kokkos::parallel_reduce";

  gantry::Offload m_space;
  Body m_body;
  gantry::Launch m_launch;

 public:
  template <class ViewType>
  ParallelReduce(const FunctorReducer& functor_reducer, const Policy& policy, const ViewType& result)
      : m_space(policy.space()),
        m_body{functor_reducer, gantry::impl::tiles_of(policy), 0},
        m_launch(gantry::impl::launch_of<Policy>(gantry::impl::count_tiles(m_body.domain, pattern), 1)) {
    m_body.count = m_launch.count;
    gantry::impl::set_scratch(m_launch, m_body, result.data(), functor_reducer.get_reducer().value_size(), pattern);
  }

  void execute() const { gantry::impl::enqueue(m_space, m_launch, m_body, pattern); }

  /// A tile may be of any size.
  template <class P, class F>
  static int max_tile_size_product(const P&, const F&) {
    return std::numeric_limits<int>::max();
  }
};
