// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/device/range.hpp>
#include <gantry/device/reduce.hpp>
#include <gantry/kokkos/Launch.hpp>
#include <gantry/kokkos/Offload.hpp>
#include <gantry/kokkos/policies.hpp>

/// Kokkos::parallel_reduce over a RangePolicy. The result is written in stream order, wherever it lies; nothing waits
/// here (Kokkos fences when the result is a scalar).
template <class FunctorReducer, class... Traits>
class Kokkos::Impl::ParallelReduce<FunctorReducer, Kokkos::RangePolicy<Traits...>, gantry::Offload> {
  using Policy = Kokkos::RangePolicy<Traits...>;
  using Domain = gantry::Range<typename Policy::member_type>;
  using Body = gantry::Reduce<FunctorReducer, Domain, typename Policy::work_tag>;
  static constexpr const char* pattern = "Kokkos::parallel_reduce";

  gantry::Offload m_space;
  gantry::Launch m_launch;
  Body m_body;

 public:
  template <class ViewType>
  ParallelReduce(const FunctorReducer& functor_reducer, const Policy& policy, const ViewType& result)
      : m_space(policy.space()),
        m_launch(gantry::impl::launch_of<Policy>(gantry::impl::count_of<Domain>(policy, pattern), policy.chunk_size())),
        m_body{functor_reducer, {policy.begin()}, m_launch.count} {
    gantry::impl::set_scratch(m_launch, m_body, result.data(), functor_reducer.get_reducer().value_size(), pattern);
  }

  void execute() const { gantry::impl::enqueue(m_space, m_launch, m_body, pattern); }
};
