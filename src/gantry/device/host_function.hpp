// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/device/abort.hpp>
#include <gantry/device/call.hpp>
#include <gantry/rpc/handlers.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace gantry {

template <class Signature>
class HostFunctionRef;

/// What kernels have of a HostFunction: one number, copied freely, captured by functors. A call when the function has
/// ended, or through a reference to none, is answered by Answer::unknown.
template <class Result, class... Args>
class HostFunctionRef<Result(Args...)> {
  static_assert(((std::is_trivially_copyable_v<Args> && std::is_default_constructible_v<Args>)&&...),
                "arguments cross to the host as bytes, into objects made by their default constructors");
  static_assert(std::is_void_v<Result> ||
                    (std::is_trivially_copyable_v<Result> && std::is_default_constructible_v<Result>),
                "a result comes back as bytes, into an object made by its default constructor");

 public:
  /// Calls the function on the host with copies of the arguments and waits; `result` is set when the answer is ok.
  template <class R = Result>
  requires(!std::is_void_v<R>) [[nodiscard]] rpc::Answer try_call(R& result, Args... args) const {
    Message message;
    message.pack(args...);
    const rpc::Answer answer = impl::call_host(m_opcode, message);
    if (answer == rpc::Answer::ok) std::memcpy(&result, message.bytes, sizeof(R));
    return answer;
  }
  template <class R = Result>
  requires std::is_void_v<R>
  [[nodiscard]] rpc::Answer try_call(Args... args) const {
    Message message;
    message.pack(args...);
    return impl::call_host(m_opcode, message);
  }

  /// As try_call; aborts the kernel when there is no answer.
  Result operator()(Args... args) const {
    if constexpr (std::is_void_v<Result>) {
      if (try_call(args...) != rpc::Answer::ok) abort("a host function did not answer");
    } else {
      Result result;
      if (try_call(result, args...) != rpc::Answer::ok) abort("a host function did not answer");
      return result;
    }
  }

 private:
  template <class Signature>
  friend class HostFunction;

  static constexpr std::size_t result_bytes() noexcept {
    if constexpr (std::is_void_v<Result>) {
      return 0;
    } else {
      return sizeof(Result);
    }
  }
  static constexpr std::size_t args_bytes = (sizeof(Args) + ... + 0);
  /// The arguments one behind the other, later the result.
  struct Message {
    alignas(8) char bytes[args_bytes > result_bytes() ? args_bytes : (result_bytes() > 0 ? result_bytes() : 1)];

    void pack(const Args&... args) noexcept {
      char* to = bytes;
      ((std::memcpy(to, &args, sizeof(args)), to += sizeof(args)), ...);
      static_cast<void>(to);
    }
    [[nodiscard]] std::tuple<Args...> unpack() const noexcept {
      [[maybe_unused]] const char* from = bytes;
      [[maybe_unused]] const auto next = [&]<class T>(std::type_identity<T>) {
        T value;
        std::memcpy(&value, from, sizeof(T));
        from += sizeof(T);
        return value;
      };
      return std::tuple<Args...>{next(std::type_identity<Args>())...};
    }
  };

  rpc::Opcode m_opcode = 0;
};

template <class Signature>
class HostFunction;

/// A function of the host that kernels call, of any device, until it ends.
///
///     gantry::HostFunction<double(int)> lookup([&](int key) { return table.at(key); });
///     const auto f = lookup.ref();
///     Kokkos::parallel_for(n, KOKKOS_LAMBDA(int i) { y(i) = f(i); });
///
/// It runs on the thread that serves the calls of the device's backend: what rpc::Handler says holds. Calls of
/// different backends may run at the same time. The arguments together, and the result, take at most 1024 bytes. Its
/// end waits until no call is inside, unless a call of its own ends it.
template <class Result, class... Args>
class HostFunction<Result(Args...)> {
 public:
  using Ref = HostFunctionRef<Result(Args...)>;

  explicit HostFunction(std::function<Result(Args...)> function) : m_ref(serve(std::move(function))) {}
  ~HostFunction() { rpc::impl::remove_handler("", m_ref.m_opcode).ignore(); }
  HostFunction(const HostFunction&) = delete;
  HostFunction& operator=(const HostFunction&) = delete;

  [[nodiscard]] Ref ref() const noexcept { return m_ref; }

 private:
  static Ref serve(std::function<Result(Args...)> function) {
    const auto handler = [function = std::move(function)](rpc::Call& call) -> Status {
      typename Ref::Message message;
      if (call.payload.size() < sizeof(message)) return rpc::impl::wrong_length(call.payload.size());
      std::memcpy(&message, call.payload.data(), sizeof(message));
      if constexpr (std::is_void_v<Result>) {
        std::apply(function, message.unpack());
      } else {
        const Result result = std::apply(function, message.unpack());
        std::memcpy(call.payload.data(), &result, sizeof(result));
      }
      return {};
    };
    Ref ref;
    do ref.m_opcode = rpc::impl::next_function_opcode();  // the numbers come again after 2^24
    while (rpc::impl::add_handler("", ref.m_opcode, handler).code() == Code::busy);
    return ref;
  }

  const Ref m_ref;
};

}  // namespace gantry
