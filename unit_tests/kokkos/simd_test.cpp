// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/kokkos/Gantry_Kokkos.hpp>

#include <Kokkos_SIMD.hpp>

#include <gtest/gtest.h>

#include <type_traits>
#include <vector>

#include "patterns.hpp"

namespace {

using gantry::test::to_host;
namespace KE = Kokkos::Experimental;

using Simd = KE::simd<double>;

void fill_with_simd(const Kokkos::View<double*>& values) {
  Kokkos::parallel_for(
      values.extent(0) / Simd::size(), KOKKOS_LAMBDA(int i) {
        KE::simd_unchecked_store(Simd(2.5), &values(i * static_cast<int>(Simd::size())), KE::simd_flag_default);
      });
}

TEST(SimdTest, IsWhatItIsOnTheHost) {
  using OnHost = KE::simd_abi::Impl::ForSpace<Kokkos::DefaultHostExecutionSpace>::type<double>;
  EXPECT_TRUE((std::is_same_v<Simd::abi_type, OnHost>));
  const Kokkos::View<double*> values("values", 64);
  fill_with_simd(values);
  EXPECT_EQ(to_host(values), std::vector<double>(64, 2.5));
}

}  // namespace
