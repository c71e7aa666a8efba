// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/kokkos/Offload.hpp>

#include <vector>

namespace gantry::impl {
/// `count` instances, each with a queue of its own on the device of `base`. All queues of a device share its threads:
/// `weights` must be positive and finite, and have no other effect.
[[nodiscard]] GANTRY_API std::vector<Offload> partition(const Offload& base, const std::vector<double>& weights);
}  // namespace gantry::impl

// Kokkos calls this by its qualified name: it must be declared before impl/Kokkos_PartitionSpace.hpp, or Kokkos hands
// out copies of the base instance.
#ifdef KOKKOS_PARTITION_SPACE_HPP
#error "impl/Kokkos_PartitionSpace.hpp was included before Gantry: include Kokkos_Core.hpp first."
#endif
namespace Kokkos::Experimental::Impl {
template <class T>
std::vector<gantry::Offload> impl_partition_space(const gantry::Offload& base, const std::vector<T>& weights) {
  return gantry::impl::partition(base, std::vector<double>(weights.begin(), weights.end()));
}
}  // namespace Kokkos::Experimental::Impl
