// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/base/printable.hpp>
#include <gantry/kokkos/Block.hpp>
#include <gantry/kokkos/OffloadPinnedSpace.hpp>
#include <gantry/kokkos/OffloadSpace.hpp>

#include <string>

namespace gantry {

namespace {

constexpr const char* no_label = "[unlabeled]";

template <class Space>
void* allocate_in(const Space& space, MemoryKind kind, const Offload* exec, const char* label, std::size_t bytes,
                  std::size_t logical_bytes) {
  return impl::allocate_block(
             {kind, Space::name(), exec, space.device(), label, bytes, logical_bytes != 0 ? logical_bytes : bytes})
      .memory;
}

template <class Space>
void deallocate_in(const char* label, void* memory, std::size_t bytes, std::size_t logical_bytes) {
  if (memory == nullptr) return;
  Allocation found;
  if (!find_allocation(memory, found) || found.base != memory)
    return impl::report_failure(
        (std::string(Space::name()) + ": deallocation of \"" + printable(label) +
         "\": the address is no allocation of an open device: freed before, its device was closed since, or not "
         "allocated here")
            .c_str());
  impl::deallocate_block(found.device, memory, Space::name(), label, logical_bytes != 0 ? logical_bytes : bytes);
}

}  // namespace

DeviceId impl::named_device(const char* space_name, DeviceId device) {
  if (device < 0)
    throw_error(Status::error(Code::invalid_argument,
                              "there is no device " + std::to_string(device) + "; devices are numbered from 0"),
                space_name);
  return device;
}

#define GANTRY_IMPL_SPACE(SPACE, KIND)                                                                                \
  void* SPACE::allocate(const Offload& exec, std::size_t bytes) const {                                               \
    return allocate(exec, no_label, bytes);                                                                           \
  }                                                                                                                   \
  void* SPACE::allocate(const Offload& exec, const char* label, std::size_t bytes, std::size_t logical_bytes) const { \
    return allocate_in(*this, KIND, &exec, label, bytes, logical_bytes);                                              \
  }                                                                                                                   \
  void* SPACE::allocate(std::size_t bytes) const {                                                                    \
    return allocate(no_label, bytes);                                                                                 \
  }                                                                                                                   \
  void* SPACE::allocate(const char* label, std::size_t bytes, std::size_t logical_bytes) const {                      \
    return allocate_in(*this, KIND, nullptr, label, bytes, logical_bytes);                                            \
  }                                                                                                                   \
  void SPACE::deallocate(void* memory, std::size_t bytes) const {                                                     \
    deallocate(no_label, memory, bytes);                                                                              \
  }                                                                                                                   \
  void SPACE::deallocate(const char* label, void* memory, std::size_t bytes, std::size_t logical_bytes) const {       \
    deallocate_in<SPACE>(label, memory, bytes, logical_bytes);                                                        \
  }                                                                                                                   \
  static_assert(true)

GANTRY_IMPL_SPACE(OffloadSpace, MemoryKind::device);
GANTRY_IMPL_SPACE(OffloadPinnedSpace, MemoryKind::pinned);

#undef GANTRY_IMPL_SPACE

}  // namespace gantry
