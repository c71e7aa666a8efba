// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/export.hpp>
#include <gantry/core/execution_context.hpp>
#include <gantry/core/queue_ref.hpp>
#include <gantry/kokkos/Error.hpp>
#include <gantry/kokkos/OffloadSpace.hpp>
#include <gantry/kokkos/compat.hpp>
#include <gantry/kokkos/kokkos_base.hpp>

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <type_traits>

namespace gantry {

/// The Kokkos execution space: a counted reference to one queue of one device. Instances that compare equal share a
/// queue. Work of one instance runs in order; work of different instances may overlap.
///
/// An instance made before its device was closed stays valid to hold; using it throws Error (stale_handle).
class GANTRY_API Offload {
 public:
  using execution_space = Offload;
  using memory_space = OffloadSpace;
  using device_type = Kokkos::Device<Offload, OffloadSpace>;
#if defined(GANTRY_LAYOUT_LEFT)
  using array_layout = Kokkos::LayoutLeft;
#else
  using array_layout = Kokkos::LayoutRight;
#endif
  using size_type = std::size_t;
  using index_type = std::make_signed_t<size_type>;
  using scratch_memory_space = Kokkos::ScratchMemorySpace<Offload>;

  /// The default queue of the default device, which is opened again when it was closed since. Throws Error (refused)
  /// before Kokkos::initialize and after Kokkos::finalize.
  Offload();
  /// A new queue of any device in the list that gantry::devices() returns; opens the device when it is closed.
  explicit Offload(DeviceId device);
  /// An instance of a queue that was made without Kokkos.
  explicit Offload(QueueRef queue) noexcept : m_queue(std::move(queue)) {}

  Offload(const Offload&) noexcept = default;
  Offload(Offload&& other) noexcept : Offload(static_cast<const Offload&>(other)) {}
  Offload& operator=(const Offload&) noexcept = default;
  Offload& operator=(Offload&& other) noexcept {
    return *this = static_cast<const Offload&>(other);
  }
  ~Offload() = default;

  /// Waits until everything that was launched on this instance has run. Throws Error: the error of work of the device,
  /// of any instance, that has failed (kernel_error, once; then poisoned); stale_handle; refused inside a kernel or
  /// host function, unless there is nothing to wait for, and in a forked child.
  void fence() const;
  void fence(const std::string& name) const;

  static const char* name() noexcept {
    return "Offload";
  }
  /// Thread slots of the device: how many threads can run kernel code at once.
  [[nodiscard]] int concurrency() const noexcept {
    return m_queue.concurrency();
  }
  void print_configuration(std::ostream& os, bool verbose = false) const;

  [[nodiscard]] const QueueRef& queue() const noexcept {
    return m_queue;
  }
  [[nodiscard]] DeviceHandle device() const noexcept {
    return m_queue.device();
  }

  /// Numbers of Kokkos's tool interface: 17 bits for an instance.
  [[nodiscard]] std::uint32_t impl_instance_id() const noexcept {
    return m_queue.id() & 0x1ffffU;
  }
  /// The slot of the calling thread inside a kernel, below concurrency(); 0 outside.
  static int impl_hardware_thread_id() noexcept {
    const ExecutionContext* context = execution_context();
    return context == nullptr || context->slot == ExecutionContext::no_slot ? 0 : static_cast<int>(context->slot);
  }

  static void impl_initialize(const Kokkos::InitializationSettings& settings);
  static void impl_finalize();
  /// Waits for all devices. Does nothing before initialize and after finalize.
  static void impl_static_fence(const std::string& name);

  friend bool operator==(const Offload& a, const Offload& b) noexcept {
    return a.m_queue == b.m_queue;
  }

 private:
  QueueRef m_queue;
};

namespace impl {
GANTRY_API bool register_build(const KokkosBuild& build) noexcept;
/// Tells the library, before main, which Kokkos the program is compiled for; Kokkos::initialize compares.
inline constexpr KokkosBuild g_program_build = kokkos_build();
inline const bool g_program_build_registered = register_build(g_program_build);
}  // namespace impl

}  // namespace gantry

template <>
struct Kokkos::Tools::Experimental::DeviceTypeTraits<gantry::Offload> {
  static constexpr DeviceType id = DeviceType::Unknown;
  static int device_id(const gantry::Offload& space) noexcept { return space.device().id; }
};

template <>
struct Kokkos::Impl::MemorySpaceAccess<gantry::OffloadSpace, gantry::Offload::scratch_memory_space> {
  enum : bool { assignable = false };
  enum : bool { accessible = true };
};
