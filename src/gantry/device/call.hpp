// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/rpc/current_port.hpp>
#include <gantry/rpc/out_of_line.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace gantry {

namespace impl {

template <class T>
constexpr void check_call() {
  static_assert(std::is_trivially_copyable_v<T>, "what a call carries crosses to the host as bytes");
  static_assert(sizeof(T) <= rpc::most_call_bytes, "a call carries at most 1024 bytes");
}
template <class T>
inline constexpr auto call_room = static_cast<std::uint32_t>((sizeof(T) + 7) & ~std::size_t{7});

template <class T>
void write_argument(char* to, const T& argument) {
  std::memset(to + call_room<T> - 8, 0, 8);
  std::memcpy(to, &argument, sizeof(T));
}

template <class T>
rpc::Answer call_host(rpc::Opcode opcode, T& argument) {
  check_call<T>();
  const rpc::CurrentPort port = rpc::current_port();
  if (!port) {
    rpc::impl::not_in_a_kernel("a call of the host");
    return rpc::Answer::refused;
  }
  rpc::Client<rpc::HostPlatform> client = port.open();
  return client.call(
      opcode, call_room<T>, [&](char* to) { write_argument(to, argument); },
      [&](const char* from) { std::memcpy(&argument, from, sizeof(T)); });
}

template <class T>
bool post_host(rpc::Opcode opcode, const T& argument) {
  check_call<T>();
  const rpc::CurrentPort port = rpc::current_port();
  if (!port) {
    rpc::impl::not_in_a_kernel("a call of the host");
    return false;
  }
  rpc::Client<rpc::HostPlatform> client = port.open();
  return client.post(opcode, call_room<T>, [&](char* to) { write_argument(to, argument); });
}

}  // namespace impl

/// Calls, from a kernel, the handler that rpc::add_handler gave this number, with a copy of `argument`, and waits. What
/// the handler leaves in it comes back, when the answer is ok; else `argument` is as it was. The handler's payload is
/// the argument's bytes and, up to a multiple of 8, zeros. Calls of one thread are
/// served in order. Anything but ok: rpc::Answer says.
template <class T>
[[nodiscard]] rpc::Answer call_host(std::uint32_t number, T& argument) {
  if (number >= rpc::user_numbers) return rpc::Answer::unknown;
  return impl::call_host(rpc::make_opcode(rpc::OpcodeClass::user, number), argument);
}

/// Calls what answers with the argument that it got: to see whether the host serves, and how fast.
template <class T>
[[nodiscard]] rpc::Answer call_echo(T& argument) {
  return impl::call_host(rpc::echo_opcode, argument);
}
template <class T>
bool post_echo(const T& argument) {
  return impl::post_host(rpc::echo_opcode, argument);
}

/// As call_host, without waiting: nothing comes back. It has been served when a fence that covers the kernel returns.
/// False when it was not sent: the device was aborted, the caller is no kernel, no call has such a number. A handler's
/// failure is logged.
template <class T>
bool post_host(std::uint32_t number, const T& argument) {
  if (number >= rpc::user_numbers) return false;
  return impl::post_host(rpc::make_opcode(rpc::OpcodeClass::user, number), argument);
}

}  // namespace gantry
