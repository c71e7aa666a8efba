// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "snapshots.hpp"

#include <algorithm>

namespace heat {

Snapshots::Snapshots(const Domain& domain) {
  for (const Part& part : domain.parts()) {
    const std::size_t height = part.extent.nz + 2, width = part.extent.nx + 2;
    Lane lane{&part, another_queue(part.device), {}};
    for (Buffer& buffer : lane.buffers) {
      buffer.device = decltype(buffer.device)(Kokkos::view_alloc(part.device.space, "heat slice"), height, width);
      buffer.host = decltype(buffer.host)("heat slice on host", height, width);
    }
    part.device.space.fence("heat: slices");
    m_lanes.push_back(lane);
  }
}

void Snapshots::take(double time) {
  wait();
  const int index = static_cast<int>(m_times.size());
  m_times.push_back(time);
  for (Lane& lane : m_lanes) {
    Buffer& buffer = lane.buffers[index % 2];
    const int middle = (lane.part->extent.ny + 1) / 2;
    const Space& solver = lane.part->device.space;
    Kokkos::deep_copy(solver, buffer.device, Kokkos::subview(lane.part->u.points, Kokkos::ALL, middle, Kokkos::ALL));
    solver.fence("heat: slice");
    Kokkos::deep_copy(lane.queue, buffer.host, buffer.device);
  }
  if (index > 0) add_frame(index - 1);
}

std::vector<Frame> Snapshots::frames() {
  wait();
  if (m_frames.size() < m_times.size()) add_frame(static_cast<int>(m_times.size()) - 1);
  return m_frames;
}

void Snapshots::wait() {
  for (Lane& lane : m_lanes) lane.queue.fence("heat: slice on host");
}

void Snapshots::add_frame(int index) {
  const Extent& lowest = m_lanes.front().part->extent;
  const Extent& highest = m_lanes.back().part->extent;
  Frame frame{m_times[index], lowest.nx + 2, highest.first_z + highest.nz + 2, {}};
  frame.values.resize(std::size_t(frame.width) * frame.height);
  for (const Lane& lane : m_lanes) {
    const auto& host = lane.buffers[index % 2].host;
    const Extent& extent = lane.part->extent;
    // Where parts meet, the halo may be older than the neighbour's own plane: take owned planes and walls only.
    const int begin = extent.first_z == 0 ? 0 : 1;
    const int end = &lane == &m_lanes.back() ? extent.nz + 2 : extent.nz + 1;
    for (int k = begin; k < end; ++k)
      std::copy_n(&host(k, 0), frame.width, &frame.values[std::size_t(extent.first_z + k) * frame.width]);
  }
  m_frames.push_back(std::move(frame));
}

}  // namespace heat
