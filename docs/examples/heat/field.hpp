// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <string>

namespace heat {

using Space = Kokkos::DefaultExecutionSpace;
using Memory = Space::memory_space;

/// Sizes of the part of the grid that one device owns. Indices are (z, y, x), x fastest; index 0 and the last index of
/// each direction are a wall or, where the cube is cut, the neighbour's plane (the halo).
struct Extent {
  int nz = 0, ny = 0, nx = 0;  ///< owned points
  int first_z = 0;             ///< number of owned planes below, on other devices

  [[nodiscard]] int plane() const { return (ny + 2) * (nx + 2); }
  [[nodiscard]] int owned() const { return nz * plane(); }
  [[nodiscard]] std::size_t bytes() const { return sizeof(double) * plane() * (nz + std::size_t{2}); }
};

/// A scalar field on one device, zero when made.
struct Field {
  using Points = Kokkos::View<double***, Kokkos::LayoutRight, Memory>;
  using Row = Kokkos::View<double*, Kokkos::LayoutRight, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  Points points;
  /// The owned planes as one row, for work that needs no neighbours. It holds wall points too: they stay zero in every
  /// field, so sums over it are right.
  Row owned;

  Field() = default;
  Field(const Space& space, const std::string& label, const Extent& extent)
      : points(Kokkos::view_alloc(space, label), extent.nz + 2, extent.ny + 2, extent.nx + 2),
        owned(points.data() + extent.plane(), extent.owned()) {}

  /// One plane, walls included.
  [[nodiscard]] Row plane(int z) const {
    const std::size_t size = points.extent(1) * points.extent(2);
    return Row(points.data() + z * size, size);
  }
};

/// The points inside the walls, for kernels that look at neighbours.
using Interior = Kokkos::MDRangePolicy<Space, Kokkos::Rank<3>, Kokkos::IndexType<int>>;
inline Interior interior(const Space& space, const Extent& extent) {
  return Interior(space, {1, 1, 1}, {extent.nz + 1, extent.ny + 1, extent.nx + 1});
}

/// Every owned point, for kernels that do not.
using Owned = Kokkos::RangePolicy<Space, Kokkos::IndexType<int>>;
inline Owned owned(const Space& space, const Extent& extent) {
  return Owned(space, 0, extent.owned());
}

}  // namespace heat
