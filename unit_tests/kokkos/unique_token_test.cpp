// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/kokkos/Gantry_Kokkos.hpp>

#include <gtest/gtest.h>

#include "patterns.hpp"

namespace {

using gantry::Offload;
using gantry::test::to_host;
namespace KE = Kokkos::Experimental;

template <class Token>
void count_users(const Token& token, const Kokkos::View<int*>& users, const Kokkos::View<int>& errors) {
  Kokkos::parallel_for(
      Kokkos::RangePolicy<Offload, Kokkos::Schedule<Kokkos::Dynamic>>(0, 20000), KOKKOS_LAMBDA(int) {
        const int mine = token.acquire();
        if (mine < 0 || mine >= token.size() || Kokkos::atomic_fetch_add(&users(mine), 1) != 0) {
          Kokkos::atomic_add(&errors(), 1);
        }
        Kokkos::atomic_add(&users(mine), -1);
        token.release(mine);
      });
}

template <class Token>
int errors_with(const Token& token) {
  const Kokkos::View<int> errors("errors");
  count_users(token, Kokkos::View<int*>("users", token.size()), errors);
  return to_host(errors)[0];
}

TEST(UniqueTokenTest, NoTokenHasTwoHoldersAtATime) {
  const int threads = Offload().concurrency();
  const KE::UniqueToken<Offload> instance;
  EXPECT_EQ(instance.size(), threads);
  EXPECT_EQ(errors_with(instance), 0);
  const KE::UniqueToken<Offload, KE::UniqueTokenScope::Global> global;
  EXPECT_EQ(global.size(), threads);
  EXPECT_EQ(errors_with(global), 0);
  for (const int size : {1, 2, 3 * threads}) {
    const KE::UniqueToken<Offload> sized(size);
    EXPECT_EQ(sized.size(), size);
    EXPECT_EQ(errors_with(sized), 0);
  }
}

}  // namespace
