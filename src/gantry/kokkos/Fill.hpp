// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/kokkos/Copy.hpp>
#include <gantry/kokkos/Route.hpp>
#include <gantry/kokkos/Staged.hpp>
#include <gantry/kokkos/policies.hpp>

#include <type_traits>
#include <utility>

/// What Kokkos itself launches on the memory of a View: zeroing, filling, copying element by element, constructing and
/// destroying elements. Kokkos takes the default instance where the program named none, also when the View is on
/// another device; here such work goes to the device that owns the memory.

template <>
struct Kokkos::Impl::ZeroMemset<gantry::Offload> {
  ZeroMemset(const gantry::Offload& exec, void* to, std::size_t bytes) {
    const char zero = 0;
    gantry::impl::fill_on(exec, to, &zero, 1, bytes);
  }
};

// A rank-0 View is filled from a member of a temporary object: the value is staged.
template <class View, class Layout, class Index>
struct Kokkos::Impl::ViewFill<View, Layout, gantry::Offload, 0, Index> {
  View a;
  typename View::const_value_type val;

  ViewFill(const View& view, const typename View::non_const_value_type& value, const gantry::Offload& exec)
      : a(view), val(value) {
    if constexpr (!View::traits::impl_is_customized) {
      gantry::impl::write_on(exec, a.data(), &val, sizeof val);
    } else {
      using Policy = Kokkos::RangePolicy<gantry::Offload, Kokkos::IndexType<Index>>;
      Kokkos::parallel_for("Kokkos::ViewFill-1D", Policy(exec, 0, 1), *this);
    }
  }
  KOKKOS_INLINE_FUNCTION void operator()(const Index&) const { a() = val; }
};

namespace gantry::impl {

/// The same functor under another type, for which ParallelFor is not the one below.
template <class Functor>
struct Routed : Functor {
  explicit Routed(const Functor& functor) : Functor(functor) {}
};

template <class View, class Layout, int Rank, class Index>
const void* target(const Kokkos::Impl::ViewFill<View, Layout, Offload, Rank, Index>& functor) {
  return functor.a.data();
}
template <class Device, class Value>
const void* target(const Kokkos::Impl::ViewValueFunctor<Device, Value>& functor) {
  return functor.ptr;
}

/// Fills what can be filled without a kernel; false for the rest.
template <class View, class Layout, class Index>
bool fill_directly(const Kokkos::Impl::ViewFill<View, Layout, Offload, 1, Index>& functor, const Offload& exec) {
  using Value = typename View::non_const_value_type;
  if constexpr (std::is_trivially_copyable_v<Value> && !View::traits::impl_is_customized) {
    if (functor.a.span_is_contiguous()) {
      fill_on(exec, functor.a.data(), &functor.val, sizeof(Value), functor.a.extent(0));
      return true;
    }
  }
  return false;
}
template <class Functor>
bool fill_directly(const Functor&, const Offload&) {
  return false;
}

template <class... P>
bool is_empty(const Kokkos::RangePolicy<P...>& policy) {
  return policy.begin() >= policy.end();
}
template <class... P>
bool is_empty(const Kokkos::MDRangePolicy<P...>& policy) {
  for (int dimension = 0; dimension < Kokkos::MDRangePolicy<P...>::rank; ++dimension)
    if (policy.m_lower[dimension] >= policy.m_upper[dimension]) return true;
  return false;
}

template <class Functor, class Policy>
void run_routed(const Functor& functor, const Policy& policy, const Route& route) {
  using Inner = Kokkos::Impl::ParallelFor<Routed<Functor>, Policy, Offload>;
  Inner(Routed<Functor>(functor), Policy(Kokkos::Impl::PolicyUpdate{}, policy, route.exec())).execute();
  route.finish();
}

/// ParallelFor for the functors named above. Without an index it looks at no address: that of an empty View may be the
/// end of its allocation.
template <class Functor, class Policy>
class RoutedParallelFor {
 public:
  RoutedParallelFor(const Functor& functor, const Policy& policy) : m_functor(functor), m_policy(policy) {}

  void execute() const {
    if (is_empty(m_policy) || fill_directly(m_functor, m_policy.space())) return;
    if constexpr (requires { m_functor.b.data(); }) {
      copy();
    } else {
      run_routed(m_functor, m_policy, Route(m_policy.space(), allocation_at(target(m_functor))));
    }
  }

 private:
  void copy() const {
    const Allocation to = allocation_at(m_functor.a.data());
    const Allocation from = allocation_at(m_functor.b.data());
    const Route route(m_policy.space(), to.kind == MemoryKind::device ? to : from);
    if (from.kind == MemoryKind::device && from.device != route.exec().device()) return copy_across(route);
    run_routed(m_functor, m_policy, route);
  }

  // Source and destination on different devices: the kernel reads a copy of the source on the destination's device.
  void copy_across(const Route& route) const {
    using Source = decltype(m_functor.b);
    const Staged staged(route.exec(), m_functor.b.data(), m_functor.b.span() * sizeof(typename Source::value_type));
    Functor functor(m_functor);
    functor.b = Source(static_cast<typename Source::pointer_type>(staged.memory()), m_functor.b.layout());
    run_routed(functor, m_policy, route);
    route.exec().fence();
  }

  Functor m_functor;
  Policy m_policy;
};

}  // namespace gantry::impl

#define GANTRY_IMPL_ROUTED(POLICY)                                                                                 \
  template <class View, class Layout, int Rank, class Index, class... P>                                           \
  class Kokkos::Impl::ParallelFor<Kokkos::Impl::ViewFill<View, Layout, gantry::Offload, Rank, Index>,              \
                                  Kokkos::POLICY<P...>, gantry::Offload>                                           \
      : public gantry::impl::RoutedParallelFor<Kokkos::Impl::ViewFill<View, Layout, gantry::Offload, Rank, Index>, \
                                               Kokkos::POLICY<P...>> {                                             \
    using ParallelFor::RoutedParallelFor::RoutedParallelFor;                                                       \
  };                                                                                                               \
  template <class A, class B, class Layout, int Rank, class Index, class... P>                                     \
  class Kokkos::Impl::ParallelFor<Kokkos::Impl::ViewCopy<A, B, Layout, gantry::Offload, Rank, Index>,              \
                                  Kokkos::POLICY<P...>, gantry::Offload>                                           \
      : public gantry::impl::RoutedParallelFor<Kokkos::Impl::ViewCopy<A, B, Layout, gantry::Offload, Rank, Index>, \
                                               Kokkos::POLICY<P...>> {                                             \
    using ParallelFor::RoutedParallelFor::RoutedParallelFor;                                                       \
  }
GANTRY_IMPL_ROUTED(RangePolicy);
GANTRY_IMPL_ROUTED(MDRangePolicy);
#undef GANTRY_IMPL_ROUTED

template <class Device, class Value, class... P>
class Kokkos::Impl::ParallelFor<Kokkos::Impl::ViewValueFunctor<Device, Value>, Kokkos::RangePolicy<P...>,
                                gantry::Offload>
    : public gantry::impl::RoutedParallelFor<Kokkos::Impl::ViewValueFunctor<Device, Value>, Kokkos::RangePolicy<P...>> {
  using ParallelFor::RoutedParallelFor::RoutedParallelFor;
};
