// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/rpc/current_port.hpp>
#include <gantry/rpc/out_of_line.hpp>
#include <gantry/rpc/print_message.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace gantry {

/// C's printf, from a kernel: the host formats and writes the text, to where GANTRY_PRINT or set_output() says, while
/// the kernel still runs. One call is one piece of output; what one thread prints keeps its order. Does not wait for
/// the output, except for room to send it. It is visible when a fence that covers the kernel returns. Format and
/// strings together have at most 64 MiB: else "%!(too long)" is printed.
///
/// Arguments carry their types: a conversion that does not fit prints an error in its place, such as
/// "%!d(double 3.5)"; %n is refused. A pointer to any char type is sent as the string up to its NUL, whatever the
/// conversion and the precision: cast it to const void* for %p. In a host function as in a kernel; elsewhere on the
/// host it writes to the standard output at once.
template <class... Args>
void printf(const char* format, const Args&... args) {
  const rpc::PrintMessage message(format, args...);
  const std::size_t bytes = message.bytes();
  const rpc::CurrentPort port = rpc::current_port();
  if (port) [[likely]] {
    rpc::Client<rpc::HostPlatform> client = port.open();
    const auto room = static_cast<std::uint32_t>((bytes + 7) & ~std::size_t{7});
    if (bytes <= client.max_payload()) [[likely]] {
      client.post(rpc::print_opcode, room, [&](char* to) { message.write(to); });
      return;
    }
  }
  auto* buffer = bytes <= rpc::most_message_bytes ? static_cast<char*>(std::malloc(bytes)) : nullptr;
  if (buffer == nullptr) {
    printf("%s", "%!(too long)");
    return;
  }
  message.write(buffer);
  if (port) {
    port.open().post_bytes(rpc::print_opcode, buffer, static_cast<std::uint32_t>(bytes));
  } else {
    rpc::impl::print_here(buffer, bytes);
  }
  std::free(buffer);
}

}  // namespace gantry
