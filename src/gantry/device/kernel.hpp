// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/core/kernel.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string_view>
#include <type_traits>

namespace gantry {

namespace impl {
template <class B>
concept RunsOnHost = requires(const B& body, HostWorker& worker) {
  body.host(worker);
};
}  // namespace impl

/// All that one kernel needs in one object, which is copied to where it runs: the user's functor and numbers. No
/// policy, no execution space, no string, no pointer to anything that may die when the launch returns.
///
/// `host` runs one share on a host device: it takes pieces from the worker until there are none and keeps what it
/// accumulates in locals, then stores it to the share's scratch. It is called once for each share and phase, also for a
/// share without items.
template <class B>
concept Body = std::copy_constructible<B> && std::is_nothrow_destructible_v<B> && impl::RunsOnHost<B>;

/// A body that folds its shares: `host_join` runs after the last share of each phase, and alone when there are no
/// items.
template <class B>
concept JoinedBody = Body<B> && requires(const B& body, const HostJoin& join) {
  body.host_join(join);
};

namespace impl {

/// What the compiler calls T, with a 0 behind it.
template <class T>
class TypeName {
  static constexpr std::string_view find() {
    const std::string_view text = __PRETTY_FUNCTION__;
    const std::size_t begin = text.find("T = ") + 4;
    const std::size_t semicolon = text.find("; std::string_view", begin);
    return text.substr(begin, (semicolon != text.npos ? semicolon : text.size() - 1) - begin);
  }
  struct Characters {
    char data[find().size() + 1];
  };
  static constexpr Characters characters = [] {
    Characters copy{};
    char* to = copy.data;
    for (const char c : find()) *to++ = c;
    return copy;
  }();

 public:
  static constexpr const char* value = characters.data;
};

template <class B>
concept NamesItsFunctor = requires {
  typename B::functor_type;
};

/// What a body is named after: its functor, where it says which that is.
template <class B>
struct NameOf : TypeName<B> {};
template <NamesItsFunctor B>
struct NameOf<B> : TypeName<typename B::functor_type> {};

}  // namespace impl

/// Kernel records differ between compilers in what they can launch (a host compiler knows no GPU entry), so that each
/// has its own: the linker must never take one for the other.
inline namespace host_dialect {

/// The kernel record of a body type. Address and content are constant; only `info.cost` is ever written.
template <Body B>
class Kernel {
  static void copy(void* to, const void* from) { ::new (to) B(*static_cast<const B*>(from)); }
  static void destroy(void* body) { static_cast<B*>(body)->~B(); }
  static void host(const void* body, HostWorker& worker) { static_cast<const B*>(body)->host(worker); }
  static void host_join(const void* body, const HostJoin& join) requires JoinedBody<B> {
    static_cast<const B*>(body)->host_join(join);
  }
  static constexpr auto join_or_null() -> void (*)(const void*, const HostJoin&) {
    if constexpr (JoinedBody<B>) {
      return host_join;
    } else {
      return nullptr;
    }
  }

 public:
  inline static const KernelInfo info = {
      .type = impl::NameOf<B>::value,
      .size = sizeof(B),
      .align = alignof(B),
      .copy = std::is_trivially_copyable_v<B> ? nullptr : copy,
      .destroy = std::is_trivially_destructible_v<B> ? nullptr : destroy,
      .host = host,
      .host_join = join_or_null(),
      .cost = {},
  };
};

}  // namespace host_dialect

}  // namespace gantry
