// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/device/for_each.hpp>
#include <gantry/device/range.hpp>
#include <gantry/kokkos/Launch.hpp>
#include <gantry/kokkos/Offload.hpp>
#include <gantry/kokkos/policies.hpp>

/// Kokkos::parallel_for over a RangePolicy. The functor is copied by the launch; Views in the copy are not counted, as
/// in all of Kokkos's parallel patterns: freeing a View waits for the kernels that may use it.
template <class Functor, class... Traits>
class Kokkos::Impl::ParallelFor<Functor, Kokkos::RangePolicy<Traits...>, gantry::Offload> {
  using Policy = Kokkos::RangePolicy<Traits...>;
  using Domain = gantry::Range<typename Policy::member_type>;
  using Body = gantry::ForEach<Functor, Domain, typename Policy::work_tag>;
  static constexpr const char* pattern = "Kokkos::parallel_for";

  gantry::Offload m_space;
  gantry::Launch m_launch;
  Body m_body;

 public:
  ParallelFor(const Functor& functor, const Policy& policy)
      : m_space(policy.space()),
        m_launch(gantry::impl::launch_of<Policy>(gantry::impl::count_of<Domain>(policy, pattern), policy.chunk_size())),
        m_body{functor, {policy.begin()}} {}

  void execute() const { gantry::impl::enqueue(m_space, m_launch, m_body, pattern); }
};
