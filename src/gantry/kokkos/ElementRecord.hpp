// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/kokkos/AllocationRecord.hpp>

#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

namespace Kokkos::Impl {
template <class DeviceType, class ValueType>
struct ViewValueFunctor;
}

namespace gantry::impl {

/// False for a functor whose destroy_shared_allocation does nothing.
template <class Functor>
inline constexpr bool destroys_elements = true;
template <class Device, class Value>
inline constexpr bool destroys_elements<Kokkos::Impl::ViewValueFunctor<Device, Value>> =
    !std::is_trivially_destructible_v<Value>;

/// The memory of a View with the functor that constructs and destroys its elements. A View whose elements cannot be
/// constructed never comes to be: its memory is given back before the error leaves. Elements on a device whose work has
/// failed, or that was closed since, are not destroyed.
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
        delete &m_record;  // and with it this object
        throw;
      }
    }
    void destroy_shared_allocation() {
      if (m_functor) m_functor->destroy_shared_allocation();
    }

   private:
    ElementRecord& m_record;
    std::optional<Functor> m_functor;
  };

 public:
  using Base::Base;

  template <class... Args>
  static Record* allocate(const Args&... args) {
    return new Record(args...);
  }

  Elements m_destroy{*this};

 private:
  // Called by destructors of Views: nothing may escape.
  void destroy_elements() noexcept override {
    if constexpr (destroys_elements<Functor>) {
      if (!settle(this->block())) return;
      try {
        m_destroy.destroy_shared_allocation();
      } catch (const std::exception& failure) {
        report_failure(failure.what());
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
