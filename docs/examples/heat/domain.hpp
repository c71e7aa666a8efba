// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "device.hpp"
#include "field.hpp"
#include "problem.hpp"

#include <vector>

namespace heat {

/// One device's part of the cube: a stack of planes, and the fields of the solver on them.
struct Part {
  Device device;
  Extent extent;
  Field u;        ///< temperature
  Field r, p, q;  ///< conjugate gradients: residual, direction, matrix times direction
  Kokkos::View<double, Kokkos::HostSpace> sum{"heat sum"};  ///< where this part's reductions arrive
};

/// The cube, cut along z into one part a device.
class Domain {
 public:
  /// Throws InputError when a device has too little memory.
  Domain(const Problem& problem, std::vector<Device> devices);

  [[nodiscard]] std::vector<Part>& parts() { return m_parts; }
  [[nodiscard]] const std::vector<Part>& parts() const { return m_parts; }
  [[nodiscard]] std::size_t bytes() const;

  /// Calls `work(part)`, which enqueues kernels, for every part: all devices run at the same time.
  template <class Work>
  void each(Work work) {
    for (Part& part : m_parts) work(part);
  }

  /// As each, for work that ends in a reduction into part.sum; waits for all parts and returns the sum of their sums.
  template <class Work>
  double sum(Work work) {
    each(work);
    double total = 0;
    for (Part& part : m_parts) {
      part.device.space.fence("heat: sum");
      total += part.sum();
    }
    return total;
  }

  /// Gives every part its neighbours' planes of one field, after the kernels already enqueued. Between two exchanges
  /// there must be a sum: they use the same host memory.
  void exchange(Field Part::*field);

 private:
  /// What crosses one cut between two parts, through host memory.
  struct Cut {
    Kokkos::View<double*, Kokkos::SharedHostPinnedSpace> up, down;
  };
  std::vector<Part> m_parts;
  std::vector<Cut> m_cuts;  ///< m_cuts[i] lies between parts i and i + 1
};

}  // namespace heat
