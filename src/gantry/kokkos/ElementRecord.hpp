// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/core/execution_context.hpp>
#include <gantry/kokkos/AllocationRecord.hpp>

#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

namespace gantry::impl {

/// False for a functor whose destroy_shared_allocation does nothing.
template <class Functor>
inline constexpr bool destroys_elements = true;
template <class Device, class Value>
inline constexpr bool destroys_elements<Kokkos::Impl::ViewValueFunctor<Device, Value>> =
    !std::is_trivially_destructible_v<Value>;
template <class Device, class Value>
inline constexpr bool destroys_elements<Kokkos::Impl::ViewValueFunctorSequentialHostInit<Device, Value>> =
    !std::is_trivially_destructible_v<Value>;

/// The memory of a View with the functor that constructs and destroys its elements. A View whose elements cannot be
/// constructed never comes to be: its memory is given back before the error leaves. Elements on a device whose work has
/// failed, or that was closed since, are not destroyed, nor are those of a View that dies inside a kernel, which cannot
/// wait for them.
template <class Space, class Functor>
class ElementRecord : public Kokkos::Impl::SharedAllocationRecord<Space, void> {
  using Base = Kokkos::Impl::SharedAllocationRecord<Space, void>;
  using Record = Kokkos::Impl::SharedAllocationRecord<Space, Functor>;

  /// What Kokkos assigns the functor to once there is something to construct.
  class Elements {
   public:
    explicit Elements(ElementRecord& record) noexcept : m_record(record) {}
    Elements(const Elements&) = delete;
    Elements& operator=(const Elements&) = delete;
    Elements& operator=(Functor&& functor) {
      m_functor.emplace(std::move(functor));
      return *this;
    }
    void construct_shared_allocation() {
      try {
        m_functor->construct_shared_allocation();
      } catch (...) {
        m_functor.reset();
        KokkosRecord::increment(&m_record);
        KokkosRecord::decrement(&m_record);  // to zero: the record ends, and with it this object
        throw;
      }
    }
    void destroy_shared_allocation() { m_functor->destroy_shared_allocation(); }
    [[nodiscard]] bool constructed() const noexcept { return m_functor.has_value(); }

   private:
    ElementRecord& m_record;
    std::optional<Functor> m_functor;
  };

 public:
  using Base::Base;

  template <class... Args>
  static Record* allocate(const Args&... args) {
    if (execution_context() != nullptr) [[unlikely]]
      throw_error(Status::error(Code::refused, "a View cannot be made inside a kernel or host function"),
                  Space::name());
    return new Record(args...);
  }

  Elements m_destroy{*this};

 private:
  // Called by destructors of Views: nothing may escape.
  void destroy_elements() noexcept override {
    if constexpr (destroys_elements<Functor>) {
      if (!m_destroy.constructed() || execution_context() != nullptr || !settle(this->block())) return;
      try {
        m_destroy.destroy_shared_allocation();
      } catch (const std::exception& failure) {
        // Where the device was closed meanwhile, they went with it.
        if (this->block().owner.current()) report_failed_work(failure.what());
      }
    }
  }
};

}  // namespace gantry::impl

template <class Functor>
class Kokkos::Impl::SharedAllocationRecord<gantry::OffloadSpace, Functor>
    : public gantry::impl::ElementRecord<gantry::OffloadSpace, Functor> {
  using gantry::impl::ElementRecord<gantry::OffloadSpace, Functor>::ElementRecord;
};
template <class Functor>
class Kokkos::Impl::SharedAllocationRecord<gantry::OffloadPinnedSpace, Functor>
    : public gantry::impl::ElementRecord<gantry::OffloadPinnedSpace, Functor> {
  using gantry::impl::ElementRecord<gantry::OffloadPinnedSpace, Functor>::ElementRecord;
};
