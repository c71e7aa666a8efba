// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "domain.hpp"

#include <fmt/format.h>

namespace heat {

Domain::Domain(const Problem& problem, std::vector<Device> devices) {
  const int count = static_cast<int>(devices.size());
  const auto [nx, ny, nz] = problem.grid;
  for (int i = 0; i < count; ++i) {
    const int first = static_cast<int>(std::int64_t{nz} * i / count);
    const int last = static_cast<int>(std::int64_t{nz} * (i + 1) / count);
    const Extent extent{last - first, ny, nx, first};
    const double bytes = 4.0 * double(extent.bytes());
    Device& device = devices[i];
    const std::string what =
        fmt::format("grid: {} x {} x {} needs {:.1f} MB on {}", nx, ny, nz, bytes / 1e6, device.name);
    if (const double present = double(device.memory_bytes); bytes > present)
      throw InputError(fmt::format("{}, which has {:.1f} MB", what, present / 1e6));
    try {
      const Space& space = device.space;
      m_parts.push_back({device, extent, Field(space, "heat u", extent), Field(space, "heat r", extent),
                         Field(space, "heat p", extent), Field(space, "heat q", extent)});
    } catch (const std::exception& error) {
      throw InputError(fmt::format("{}: {}", what, error.what()));
    }
  }
  for (int i = 0; i + 1 < count; ++i) {
    const int plane = m_parts[i].extent.plane();
    m_cuts.push_back({{"heat halo up", std::size_t(plane)}, {"heat halo down", std::size_t(plane)}});
  }
}

std::size_t Domain::bytes() const {
  std::size_t bytes = 0;
  for (const Part& part : m_parts) bytes += 4 * part.extent.bytes();
  return bytes;
}

void Domain::exchange(Field Part::*field) {
  for (std::size_t i = 0; i < m_cuts.size(); ++i) {
    Part &below = m_parts[i], &above = m_parts[i + 1];
    Kokkos::deep_copy(below.device.space, m_cuts[i].up, (below.*field).plane(below.extent.nz));
    Kokkos::deep_copy(above.device.space, m_cuts[i].down, (above.*field).plane(1));
  }
  if (!m_cuts.empty())
    for (Part& part : m_parts) part.device.space.fence("heat: halo");
  for (std::size_t i = 0; i < m_cuts.size(); ++i) {
    Part &below = m_parts[i], &above = m_parts[i + 1];
    Kokkos::deep_copy(above.device.space, (above.*field).plane(0), m_cuts[i].up);
    Kokkos::deep_copy(below.device.space, (below.*field).plane(below.extent.nz + 1), m_cuts[i].down);
  }
}

}  // namespace heat
