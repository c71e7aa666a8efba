// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/device/range.hpp>
#include <gantry/device/scan.hpp>
#include <gantry/kokkos/Launch.hpp>
#include <gantry/kokkos/Offload.hpp>
#include <gantry/kokkos/policies.hpp>

namespace gantry::impl {

/// What ParallelScan and ParallelScanWithTotal have in common; `Total` is void where there is none.
template <class Functor, class Policy, class Total>
class ScanRange {
  using Analysis = Kokkos::Impl::FunctorAnalysis<Kokkos::Impl::FunctorPatternInterface::SCAN, Policy, Functor, Total>;
  using Reducer = typename Analysis::Reducer;
  using FunctorReducer = Kokkos::Impl::CombinedFunctorReducer<Functor, Reducer>;
  using Domain = Range<typename Policy::member_type>;
  using Body = Scan<FunctorReducer, Domain, typename Policy::work_tag>;
  static constexpr const char* pattern = "Kokkos::parallel_scan";

  Offload m_space;
  Launch m_launch;
  Body m_body;

 public:
  ScanRange(const Functor& functor, const Policy& policy, void* total)
      : m_space(policy.space()),
        m_launch(launch_of<Policy>(count_of<Domain>(policy, pattern), 0)),
        m_body{FunctorReducer(functor, Reducer(functor)), {policy.begin()}, m_launch.count} {
    m_launch.schedule = Schedule::fixed;
    m_launch.phases = Body::phases;
    set_scratch(m_launch, m_body, total, m_body.pair.get_reducer().value_size(), pattern);
  }

  void execute() const { enqueue(m_space, m_launch, m_body, pattern); }
};

}  // namespace gantry::impl

/// Kokkos::parallel_scan over a RangePolicy. The schedule is always fixed.
template <class Functor, class... Traits>
class Kokkos::Impl::ParallelScan<Functor, Kokkos::RangePolicy<Traits...>, gantry::Offload>
    : public gantry::impl::ScanRange<Functor, Kokkos::RangePolicy<Traits...>, void> {
 public:
  ParallelScan(const Functor& functor, const Kokkos::RangePolicy<Traits...>& policy)
      : gantry::impl::ScanRange<Functor, Kokkos::RangePolicy<Traits...>, void>(functor, policy, nullptr) {}
};

/// As ParallelScan; the total is written in stream order, wherever it lies.
template <class Functor, class Total, class... Traits>
class Kokkos::Impl::ParallelScanWithTotal<Functor, Kokkos::RangePolicy<Traits...>, Total, gantry::Offload>
    : public gantry::impl::ScanRange<Functor, Kokkos::RangePolicy<Traits...>, Total> {
 public:
  template <class ViewType>
  ParallelScanWithTotal(const Functor& functor, const Kokkos::RangePolicy<Traits...>& policy, const ViewType& total)
      : gantry::impl::ScanRange<Functor, Kokkos::RangePolicy<Traits...>, Total>(functor, policy, total.data()) {}
};
