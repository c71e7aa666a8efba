// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/kokkos/Offload.hpp>
#include <gantry/kokkos/kokkos_base.hpp>

#include <type_traits>

namespace Kokkos::Experimental::simd_abi::Impl {
template <class Space>
struct ForSpace;
}

/// Kokkos::Experimental::simd in kernels is what it is on the host: they are compiled for the host's instructions.
template <>
struct Kokkos::Experimental::simd_abi::Impl::ForSpace<gantry::Offload> {
 private:
  // Looked up when it is used: Kokkos_SIMD.hpp says only then what the host has.
  template <class T>
  using Host = ForSpace<std::conditional_t<std::is_void_v<T>, void, Kokkos::DefaultHostExecutionSpace>>;

 public:
  template <class T>
  using type = typename Host<T>::template type<T>;
  template <class T, auto N>
  using simd_abi = typename Host<T>::template simd_abi<T, N>;
};
