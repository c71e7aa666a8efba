// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/kokkos/Gantry_Kokkos.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gantry::test {

/// The values of a View of rank 0 or 1, copied after all work before.
template <class View>
std::vector<typename View::non_const_value_type> to_host(const View& view) {
  const auto mirror = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  return {mirror.data(), mirror.data() + mirror.size()};
}

/// Numbers of items around which a launch is cut differently.
inline std::vector<std::int64_t> sizes() {
  const std::int64_t threads = Offload().concurrency();
  return {0, 1, 2, threads - 1, threads, threads + 1, 63, 1000, 30000, 1000000};
}

}  // namespace gantry::test
