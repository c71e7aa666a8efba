// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "domain.hpp"

#include <array>
#include <vector>

namespace heat {

/// The temperature in the middle plane across y at one time, walls included: rows along z, x fastest.
struct Frame {
  double time = 0;
  int width = 0, height = 0;
  std::vector<double> values;
};

/// Brings slices of the field to the host while the solver goes on: every part has a second queue and two buffers, so
/// that one slice is on its way while the host makes a frame of the one before.
class Snapshots {
 public:
  /// `domain` must outlive the snapshots.
  explicit Snapshots(const Domain& domain);

  /// Starts to copy the slice of u as it is now. The solver may go on at once.
  void take(double time);

  /// All frames, in order; waits for the last.
  [[nodiscard]] std::vector<Frame> frames();

 private:
  struct Buffer {
    Kokkos::View<double**, Kokkos::LayoutRight, Memory> device;
    Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::SharedHostPinnedSpace> host;
  };
  struct Lane {  ///< of one part
    const Part* part;
    Space queue;
    std::array<Buffer, 2> buffers;
  };
  void wait();                ///< until no copy is under way
  void add_frame(int index);  ///< of slice number `index`, which has arrived

  std::vector<Lane> m_lanes;
  std::vector<Frame> m_frames;
  std::vector<double> m_times;  ///< of all slices taken
};

}  // namespace heat
