// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/base/log.hpp>
#include <gantry/base/try.hpp>
#include <gantry/rpc/handlers.hpp>
#include <gantry/rpc/memory_message.hpp>
#include <gantry/rpc/print_format.hpp>
#include <gantry/rpc/services.hpp>

#include <fmt/format.h>

#include <cstring>

namespace gantry::rpc {
namespace {

Status read(std::span<const char> payload, MemoryMessage& message) {
  if (payload.size() != sizeof(message)) return impl::wrong_length(payload.size());
  std::memcpy(&message, payload.data(), sizeof(message));
  return {};
}

}  // namespace

Status print(std::span<const char> payload, Sink& sink) {
  format_print_message(sink.text(), payload);
  return {};
}

Status allocate(std::span<char> payload, DeviceServices& services) {
  MemoryMessage message;
  GANTRY_TRY(read(payload, message));
  Result<void*> made = services.allocate(message.bytes);
  message.address = made.ok() ? reinterpret_cast<std::uint64_t>(*made) : 0;
  std::memcpy(payload.data(), &message, sizeof(message));
  // No room is an answer like any other.
  return made.status().without(Code::out_of_memory);
}

Status deallocate(std::span<char> payload, DeviceServices& services) {
  MemoryMessage message;
  GANTRY_TRY(read(payload, message));
  return services.deallocate(reinterpret_cast<void*>(message.address));
}

Status write_abort(std::span<const char> payload, std::string_view device) {
  const auto* end = static_cast<const char*>(std::memchr(payload.data(), '\0', payload.size()));
  const std::string_view text(payload.data(),
                              end != nullptr ? static_cast<std::size_t>(end - payload.data()) : payload.size());
  log(LogLevel::error, fmt::format("{}: {}", device, text));
  return {};
}

}  // namespace gantry::rpc
