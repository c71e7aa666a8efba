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
template <class Functor>
struct FrontEndOnly {
  Functor functor;
  KOKKOS_FUNCTION void operator()(int i) const { functor(i); }
};

/// parallel_for with all that Kokkos itself does, and no kernel.
template <class Functor>
void call_front_end(const Kokkos::OpenMP& space, int n, const Functor& functor) {
  Kokkos::parallel_for(Kokkos::RangePolicy<Kokkos::OpenMP>(space, 0, n), FrontEndOnly<Functor>{functor});
}

}  // namespace perf

template <class Functor, class... Traits>
class Kokkos::Impl::ParallelFor<perf::FrontEndOnly<Functor>, Kokkos::RangePolicy<Traits...>, Kokkos::OpenMP> {
 public:
  using Policy = Kokkos::RangePolicy<Traits...>;
  ParallelFor(const perf::FrontEndOnly<Functor>& functor, const Policy& policy)
      : m_functor(functor), m_policy(policy) {}
  void execute() const { benchmark::DoNotOptimize(this); }

 private:
  perf::FrontEndOnly<Functor> m_functor;
  Policy m_policy;
};
