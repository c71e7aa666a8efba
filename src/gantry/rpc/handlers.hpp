// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/export.hpp>
#include <gantry/base/status.hpp>
#include <gantry/core/handle.hpp>
#include <gantry/rpc/protocol.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

namespace gantry::rpc {

/// One call, of one lane, as its handler sees it.
struct Call {
  DeviceId device;  ///< that the calling code runs on
  Opcode opcode;
  /// 8-byte aligned, a multiple of 8 long: the argument, then zeros. What the handler leaves in it is the answer.
  std::span<char> payload;
};

/// What a call does on the host. Runs on the backend's server thread, one call of a device at a time, with no lock
/// held; an error or an exception becomes Answer::failed and is logged. It may add and remove handlers, allocate and
/// free memory, and open or close other devices than the caller's; it can neither enqueue work nor wait for work.
using Handler = std::function<Status(Call&)>;

/// Gives the user call `number` a handler: for the devices of one backend ("host", "cuda", "hip"), or, where `backend`
/// is empty, for all that have none of their own. At any time, open devices or not. `busy`: there is one already.
/// Thread safety: any thread.
GANTRY_API Status add_handler(std::string_view backend, std::uint32_t number, Handler handler);
/// Takes a handler away: when it returns no call is inside the handler, unless it is called from that call itself; so
/// two handlers must not take each other away. `not_found`: there is none.
GANTRY_API Status remove_handler(std::string_view backend, std::uint32_t number);

namespace impl {

/// As above, for any opcode.
GANTRY_API Status add_handler(std::string_view backend, Opcode opcode, Handler handler);
GANTRY_API Status remove_handler(std::string_view backend, Opcode opcode);

/// An opcode that no host function had before.
GANTRY_API Opcode next_function_opcode() noexcept;
/// The error for a payload that is not what a handler expects.
GANTRY_API Status wrong_length(std::size_t bytes);

/// A handler that was found: it stays while one lives.
class HandlerRef {
 public:
  struct Entry;
  /// False: there is none, no need to look.
  static bool may_have(Opcode opcode) noexcept {
    return class_of(opcode) != OpcodeClass::gantry || s_services.load(std::memory_order_relaxed) != 0;
  }
  /// The backend's own; or else, for what is not Gantry's own service, the one for all.
  static HandlerRef find(std::string_view backend, Opcode opcode);
  HandlerRef() = default;
  HandlerRef(HandlerRef&& other) noexcept : m_entry(std::move(other.m_entry)) {}
  HandlerRef& operator=(HandlerRef&&) = delete;
  ~HandlerRef();
  explicit operator bool() const noexcept { return m_entry != nullptr; }
  Status operator()(Call& call) const;

 private:
  friend Status add_handler(std::string_view backend, Opcode opcode, Handler handler);
  friend Status remove_handler(std::string_view backend, Opcode opcode);

  explicit HandlerRef(std::shared_ptr<Entry> entry) : m_entry(std::move(entry)) {}

  static std::atomic<int> s_services;  // handlers of Gantry's own; hardly any program has one
  std::shared_ptr<Entry> m_entry;
};

}  // namespace impl
}  // namespace gantry::rpc
