// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#include <benchmark/benchmark.h>

#include <cstdint>

/// A figure's source is compiled twice: against Gantry (PERF_SIDE_GANTRY defined; the default space is gantry::Offload)
/// and against Kokkos alone (the default space is Kokkos::OpenMP). It names the default space only.
namespace perf {

using Space = Kokkos::DefaultExecutionSpace;
using Range = Kokkos::RangePolicy<Space>;

/// A kernel whose dispatch is cut off behind Kokkos's front end: what parallel_for costs before any backend has a say.
struct FrontEndOnly {
  KOKKOS_FUNCTION void operator()(int) const {}
};

}  // namespace perf

template <class... Traits>
class Kokkos::Impl::ParallelFor<perf::FrontEndOnly, Kokkos::RangePolicy<Traits...>, Kokkos::OpenMP> {
 public:
  using Policy = Kokkos::RangePolicy<Traits...>;
  ParallelFor(const perf::FrontEndOnly& functor, const Policy& policy) : m_functor(functor), m_policy(policy) {}
  void execute() const { benchmark::DoNotOptimize(this); }

 private:
  perf::FrontEndOnly m_functor;
  Policy m_policy;
};
