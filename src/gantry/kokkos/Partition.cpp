// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/core/gantry.hpp>
#include <gantry/kokkos/Partition.hpp>

#include <cmath>
#include <string>

namespace gantry::impl {

std::vector<Offload> partition(const Offload& base, const std::vector<double>& weights) {
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i] > 0) || !std::isfinite(weights[i]))
      throw Error(Status::error(Code::invalid_argument, "partition_space: weight " + std::to_string(i) + " is " +
                                                            std::to_string(weights[i]) +
                                                            "; weights are positive and finite"));
  }
  std::vector<Offload> instances;
  instances.reserve(weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    auto queue = create_queue(base.device(), "partition " + std::to_string(i));
    check(queue.status(), "partition_space");
    instances.emplace_back(std::move(*queue));
  }
  return instances;
}

}  // namespace gantry::impl
