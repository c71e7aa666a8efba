// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/kokkos/Copy.hpp>
#include <gantry/kokkos/OffloadSpace.hpp>
#include <gantry/kokkos/Staged.hpp>

namespace gantry::impl {

namespace {
constexpr const char* label = "deep copy between devices: the source";
}

Staged::Staged(const Offload& exec, const void* from, std::size_t bytes)
    : Staged(allocate_block({MemoryKind::device, OffloadSpace::name(), &exec, -1, label, bytes, bytes}), bytes) {
  copy_now(m_block.memory, Place::device, from, Place::device, bytes);
}

Staged::~Staged() {
  deallocate_block(m_block.owner.device(), m_block.memory, OffloadSpace::name(), label, m_bytes);
}

}  // namespace gantry::impl
