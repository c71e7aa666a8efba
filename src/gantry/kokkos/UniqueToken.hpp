// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/kokkos/Offload.hpp>
#include <gantry/kokkos/OffloadSpace.hpp>
#include <gantry/kokkos/kokkos_base.hpp>
#include <gantry/kokkos/slot_below.hpp>

// View needs the host's spaces, which come before this file when Kokkos_Core.hpp includes it.
#include <Kokkos_Core.hpp>
#ifndef KOKKOS_IMPL_PUBLIC_INCLUDE
#define KOKKOS_IMPL_PUBLIC_INCLUDE
#define GANTRY_IMPL_PUBLIC_INCLUDE_UNIQUE_TOKEN
#endif
#include <Kokkos_Atomic.hpp>
#include <Kokkos_UniqueToken.hpp>
#include <Kokkos_View.hpp>
#ifdef GANTRY_IMPL_PUBLIC_INCLUDE_UNIQUE_TOKEN
#undef KOKKOS_IMPL_PUBLIC_INCLUDE
#undef GANTRY_IMPL_PUBLIC_INCLUDE_UNIQUE_TOKEN
#endif

#include <cstdint>

namespace gantry::impl {
inline constexpr const char* small_token =
    "gantry: a UniqueToken is used on a device with more thread slots than the one that it was made for; make it with "
    "the instance whose kernels use it";
}  // namespace gantry::impl

/// Tokens of the threads that run kernels on the device of an instance: the thread's slot. Kernels that run on
/// different devices at the same time may hold equal tokens. A kernel on a device with more slots ends the program.
template <>
class Kokkos::Experimental::UniqueToken<gantry::Offload, Kokkos::Experimental::UniqueTokenScope::Global> {
 public:
  using execution_space = gantry::Offload;
  using size_type = int;

  explicit(false) UniqueToken(const execution_space& space = execution_space()) : m_size(space.concurrency()) {}

  KOKKOS_INLINE_FUNCTION size_type size() const noexcept { return m_size; }
  KOKKOS_INLINE_FUNCTION size_type acquire() const noexcept {
    return gantry::impl::slot_below(m_size, gantry::impl::small_token);
  }
  KOKKOS_INLINE_FUNCTION void release(size_type) const noexcept {}

 private:
  size_type m_size;
};

/// As above; when fewer tokens are asked for than the device has slots, acquire waits for one to be released.
template <>
class Kokkos::Experimental::UniqueToken<gantry::Offload, Kokkos::Experimental::UniqueTokenScope::Instance> {
 public:
  using execution_space = gantry::Offload;
  using size_type = int;

  explicit(false) UniqueToken(const execution_space& space = execution_space()) : m_size(space.concurrency()) {}
  explicit(false) UniqueToken(size_type max_size, const execution_space& space = execution_space()) : m_size(max_size) {
    if (max_size < space.concurrency()) {
      m_taken = Taken(Kokkos::view_alloc(space, "UniqueToken"), static_cast<std::size_t>(max_size));
    }
  }

  KOKKOS_INLINE_FUNCTION size_type size() const noexcept { return m_size; }
  KOKKOS_INLINE_FUNCTION size_type acquire() const noexcept {
    if (m_taken.data() == nullptr) return gantry::impl::slot_below(m_size, gantry::impl::small_token);
    size_type token = execution_space::impl_hardware_thread_id() % m_size;
    while (Kokkos::atomic_exchange(&m_taken(token), 1u) != 0) token = token + 1 == m_size ? 0 : token + 1;
    Kokkos::memory_fence();
    return token;
  }
  KOKKOS_INLINE_FUNCTION void release(size_type token) const noexcept {
    if (m_taken.data() == nullptr) return;
    Kokkos::memory_fence();
    Kokkos::atomic_store(&m_taken(token), 0u);
  }

 private:
  using Taken = Kokkos::View<std::uint32_t*, gantry::OffloadSpace>;
  size_type m_size;
  Taken m_taken;
};
