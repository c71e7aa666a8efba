// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/base/log.hpp>
#include <gantry/core/execution_context.hpp>
#include <gantry/core/kernel.hpp>
#include <gantry/rpc/current_port.hpp>
#include <gantry/rpc/flush.hpp>
#include <gantry/rpc/out_of_line.hpp>
#include <gantry/rpc/print_format.hpp>
#include <gantry/rpc/services.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

namespace gantry::rpc::impl {

void print_here(const char* message, std::size_t bytes) noexcept {
  try {
    std::string text;
    format_print_message(text, {message, bytes});
    std::fwrite(text.data(), 1, text.size(), stdout);
  } catch (const std::exception& error) {
    log(LogLevel::error, fmt::format("printf: {}", error.what()));
  }
}

void abort_here(const char* text) {
  if (text == nullptr) text = "(null)";
  const ExecutionContext* context = execution_context();
  const CurrentPort port = current_port();
  if (!port) {
    std::fflush(stdout);  // what was printed on the host
    log(LogLevel::error, fmt::format("abort: {}", text));
    std::abort();
  }
  std::string where = "abort in a host function: ";
  if (context->kernel != nullptr) {
    // Names of lambdas can be longer than all the rest.
    where = context->slot == ExecutionContext::no_slot
                ? fmt::format("abort while the functor of kernel {:.200} is copied: ", context->kernel->type)
                : fmt::format("abort in kernel {:.200}, thread {}: ", context->kernel->type, context->slot);
  }
  where += text;
  {
    Client<HostPlatform> client = port.open();
    const std::size_t bytes =
        std::min<std::size_t>(where.size(), std::min(most_abort_text, std::size_t{client.max_payload()}));
    const auto room = static_cast<std::uint32_t>((bytes + 7) & ~std::size_t{7});
    const auto write = [&](char* to) {
      std::memset(to, 0, room);
      std::memcpy(to, where.data(), bytes);
    };
    client.call(abort_opcode, room, write, [](const char*) {});
  }
  throw std::runtime_error(where);
}

void flush_here(std::chrono::nanoseconds timeout) noexcept {
  if (const CurrentPort port = current_port()) flush_channel(*port.channel, timeout);
}

void not_in_a_kernel(const char* what) noexcept {
  log(LogLevel::error, fmt::format("{} is for kernels and was called outside of one", what));
}

}  // namespace gantry::rpc::impl
