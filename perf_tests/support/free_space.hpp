// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#define KOKKOS_IMPL_PUBLIC_INCLUDE  // the templates behind a memory space of one's own are in no public header
#include <impl/Kokkos_SharedAlloc_timpl.hpp>
#undef KOKKOS_IMPL_PUBLIC_INCLUDE

#include <cstddef>

namespace perf {

/// A memory space whose allocations cost nothing: all are the same block, and nothing is fenced. A View in it costs
/// what Kokkos itself does for any View.
class FreeSpace {
 public:
  using memory_space = FreeSpace;
  using execution_space = Kokkos::DefaultHostExecutionSpace;
  using device_type = Kokkos::Device<execution_space, memory_space>;
  using size_type = std::size_t;

  template <class Exec>
  void* allocate(const Exec&, const char*, std::size_t, std::size_t = 0) const {
    return s_block;
  }
  void* allocate(const char*, std::size_t, std::size_t = 0) const { return s_block; }
  void* allocate(std::size_t) const { return s_block; }
  void deallocate(const char*, void*, std::size_t, std::size_t = 0) const {}
  void deallocate(void*, std::size_t) const {}
  static constexpr const char* name() { return "perf::FreeSpace"; }

 private:
  alignas(128) static inline char s_block[4096];
};

}  // namespace perf

template <>
struct Kokkos::Impl::MemorySpaceAccess<Kokkos::HostSpace, perf::FreeSpace> {
  enum : bool { assignable = false, accessible = true };
};
KOKKOS_IMPL_SHARED_ALLOCATION_SPECIALIZATION(perf::FreeSpace);
