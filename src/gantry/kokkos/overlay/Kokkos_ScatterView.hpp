// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// What a ScatterView does by default on Offload: one copy of the data and atomic updates, which suits every device.
#ifndef GANTRY_KOKKOS_SCATTER_VIEW_HPP
#define GANTRY_KOKKOS_SCATTER_VIEW_HPP

#include_next <Kokkos_ScatterView.hpp>

template <>
struct Kokkos::Impl::Experimental::DefaultDuplication<gantry::Offload> {
  using type = Kokkos::Experimental::ScatterNonDuplicated;
};
template <>
struct Kokkos::Impl::Experimental::DefaultContribution<gantry::Offload, Kokkos::Experimental::ScatterNonDuplicated> {
  using type = Kokkos::Experimental::ScatterAtomic;
};
template <>
struct Kokkos::Impl::Experimental::DefaultContribution<gantry::Offload, Kokkos::Experimental::ScatterDuplicated> {
  using type = Kokkos::Experimental::ScatterNonAtomic;
};

#endif
