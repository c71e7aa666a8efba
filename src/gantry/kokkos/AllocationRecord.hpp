// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/kokkos/Block.hpp>
#include <gantry/kokkos/Copy.hpp>
#include <gantry/kokkos/OffloadPinnedSpace.hpp>

#include <iosfwd>
#include <limits>
#include <string>

namespace gantry::impl {

using KokkosRecord = Kokkos::Impl::SharedAllocationRecord<void, void>;
using KokkosHeader = Kokkos::Impl::SharedAllocationHeader;

/// The records of kokkos_malloc by address: a record cannot be read from its header, which lies in device memory.
GANTRY_API void remember_record(void* memory, KokkosRecord* record, const char* space_name);
/// Throws Error (invalid_argument) for what kokkos_malloc of that space did not return, or what was freed since.
[[nodiscard]] GANTRY_API KokkosRecord* find_record(const void* memory, const char* space_name);
GANTRY_API KokkosRecord* forget_record(const void* memory, const char* space_name);
GANTRY_API void print_live_memory(std::ostream& out, MemoryKind kind);
#ifdef KOKKOS_ENABLE_DEBUG
GANTRY_API KokkosRecord* record_list(MemoryKind kind);
#endif

template <class Space>
inline constexpr MemoryKind kind_of = std::is_same_v<Space, OffloadSpace> ? MemoryKind::device : MemoryKind::pinned;

/// The memory of a View: what Kokkos counts references to. It knows the open period of the device that the memory
/// belongs to, so the last View may die after that device was closed: the memory was taken back then, and neither it
/// nor the elements in it are touched.
///
/// The header before the data (record and label) is for code on a device that checks bounds. Where that is asked for it
/// is written in the order of the instance when that is on the same device, else of the device's default queue; nobody
/// waits for it.
template <class Space>
class AllocationRecord : public KokkosRecord {
  using Record = Kokkos::Impl::SharedAllocationRecord<Space, void>;

 public:
  AllocationRecord(const AllocationRecord&) = delete;
  AllocationRecord& operator=(const AllocationRecord&) = delete;

  /// Memory on the device of the instance; any execution space that can access Space.
  template <class Exec>
  AllocationRecord(const Exec& exec, const Space& space, const std::string& label, std::size_t bytes)
      : AllocationRecord(offload(exec), space, label, bytes, 0) {}
  AllocationRecord(const Space& space, const std::string& label, std::size_t bytes)
      : AllocationRecord(nullptr, space, label, bytes, 0) {}

  ~AllocationRecord() override {
    deallocate_block(device(), this->m_alloc_ptr, Space::name(), this->m_label.c_str(), this->size());
  }

  static Record* allocate(const Space& space, const std::string& label, std::size_t bytes) {
    return new Record(space, label, bytes);
  }

  static void* allocate_tracked(const Space& space, const std::string& label, std::size_t bytes) {
    if (bytes == 0) return nullptr;
    Record* record = allocate(space, label, bytes);
    KokkosRecord::increment(record);
    remember_record(record->data(), record, Space::name());
    return record->data();
  }
  static void deallocate_tracked(void* memory) {
    if (memory != nullptr) KokkosRecord::decrement(forget_record(memory, Space::name()));
  }
  static void* reallocate_tracked(void* memory, std::size_t bytes) {
    Record* before = get_record(memory);
    if (!before->m_block.owner.current())
      throw_error(Status::error(Code::stale_handle, "kokkos_realloc: the device was closed since, the memory is gone"),
                  Space::name());
    const std::size_t kept = bytes < before->size() ? bytes : before->size();
    void* after = allocate_tracked(Space(before->device().id), before->get_label(), bytes);
    try {
      copy_now(after, place_of<Space>, memory, place_of<Space>, kept);
    } catch (...) {
      deallocate_tracked(after);
      throw;
    }
    deallocate_tracked(memory);
    return after;
  }

  static Record* get_record(void* memory) { return static_cast<Record*>(find_record(memory, Space::name())); }
  [[nodiscard]] std::string get_label() const override { return this->m_label; }
  [[nodiscard]] const Block& block() const noexcept { return m_block; }
  [[nodiscard]] DeviceHandle device() const noexcept { return m_block.owner.device(); }

  /// What the program holds in this space, one line an allocation.
  static void print_records(std::ostream& out, const Space&, bool = false) { print_live_memory(out, kind_of<Space>); }

 private:
  template <class Exec>
  static const Offload* offload(const Exec& exec) noexcept {
    if constexpr (std::is_same_v<Exec, Offload>) return &exec;
    return nullptr;
  }

  AllocationRecord(const Offload* exec, const Space& space, const std::string& label, std::size_t bytes, int)
      : AllocationRecord(allocate_block({kind_of<Space>, Space::name(), exec, space.device(), label.c_str(),
                                         with_header(bytes), bytes}),
                         label, bytes) {
#ifdef KOKKOS_ENABLE_DEBUG_BOUNDS_CHECK
    KokkosHeader header;
    fill_host_accessible_header_info(static_cast<KokkosRecord*>(this), header, label);
    const bool ordered = exec != nullptr && exec->device() == device();
    check((ordered ? exec->queue() : m_block.owner).write(m_block.memory, &header, sizeof header), "header of a View");
#endif
  }
  AllocationRecord(const Block& block, const std::string& label, std::size_t bytes)
      : KokkosRecord(
#ifdef KOKKOS_ENABLE_DEBUG
            record_list(kind_of<Space>),
#endif
            static_cast<KokkosHeader*>(block.memory), bytes + sizeof(KokkosHeader), &release, label),
        m_block(block) {
  }

  static std::size_t with_header(std::size_t bytes) noexcept {
    constexpr std::size_t most = std::numeric_limits<std::size_t>::max() - sizeof(KokkosHeader);
    return bytes > most ? std::numeric_limits<std::size_t>::max() : bytes + sizeof(KokkosHeader);
  }

  static void release(KokkosRecord* record) noexcept {
    auto* self = static_cast<AllocationRecord*>(record);
    self->destroy_elements();
    delete self;
  }
  virtual void destroy_elements() noexcept {}

  Block m_block;
};

}  // namespace gantry::impl

template <>
class Kokkos::Impl::SharedAllocationRecord<gantry::OffloadSpace, void>
    : public gantry::impl::AllocationRecord<gantry::OffloadSpace> {
  using gantry::impl::AllocationRecord<gantry::OffloadSpace>::AllocationRecord;
};
template <>
class Kokkos::Impl::SharedAllocationRecord<gantry::OffloadPinnedSpace, void>
    : public gantry::impl::AllocationRecord<gantry::OffloadPinnedSpace> {
  using gantry::impl::AllocationRecord<gantry::OffloadPinnedSpace>::AllocationRecord;
};
