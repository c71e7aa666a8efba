// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/device/for_each.hpp>
#include <gantry/kokkos/Launch.hpp>
#include <gantry/kokkos/MDRange.hpp>
#include <gantry/kokkos/Offload.hpp>
#include <gantry/kokkos/policies.hpp>

#include <limits>

/// Kokkos::parallel_for over an MDRangePolicy: a tile is the unit of work.
template <class Functor, class... Traits>
class Kokkos::Impl::ParallelFor<Functor, Kokkos::MDRangePolicy<Traits...>, gantry::Offload> {
  using Policy = Kokkos::MDRangePolicy<Traits...>;
  using Body = gantry::ForEach<Functor, gantry::impl::TilesOf<Policy>, typename Policy::work_tag>;
  static constexpr const char* pattern = "Kokkos::parallel_for";

  gantry::Offload m_space;
  Body m_body;
  gantry::Launch m_launch;

 public:
  ParallelFor(const Functor& functor, const Policy& policy)
      : m_space(policy.space()),
        m_body{functor, gantry::impl::tiles_of(policy)},
        m_launch(gantry::impl::launch_of<Policy>(gantry::impl::count_tiles(m_body.domain, pattern), 1)) {}

  void execute() const { gantry::impl::enqueue(m_space, m_launch, m_body, pattern); }

  /// A tile may be of any size.
  template <class P, class F>
  static int max_tile_size_product(const P&, const F&) {
    return std::numeric_limits<int>::max();
  }
};
