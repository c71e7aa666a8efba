// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/base/log.hpp>
#include <gantry/core/execution_context.hpp>
#include <gantry/core/kernel.hpp>
#include <gantry/core/queue.hpp>
#include <gantry/rpc/client.hpp>
#include <gantry/rpc/current_port.hpp>
#include <gantry/rpc/host_platform.hpp>
#include <gantry/rpc/print_format.hpp>
#include <gantry/rpc/services.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

namespace gantry::rpc {

namespace impl {

CurrentPort find_port(ExecutionContext& context) noexcept {
  if (context.queue == nullptr) return {};
  context.channel = context.queue->channel();
  if (context.channel == nullptr) return {};
  const std::uint32_t last = context.channel->ports - 1;
  const bool has_slot = context.kind == ExecutionContext::Kind::kernel && context.slot < last;
  context.port = has_slot ? context.slot : last;
  return {context.channel, context.port};
}

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
  const ExecutionContext* context = execution_context();
  const CurrentPort port = current_port();
  if (!port) {
    log(LogLevel::error, fmt::format("abort: {}", text));
    std::abort();
  }
  std::string where = context->kernel == nullptr ? fmt::format("abort in a host function: {}", text)
                                                 : fmt::format("abort in kernel {}, thread {}: {}",
                                                               context->kernel->type, context->slot, text);
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

void not_in_a_kernel(const char* what) noexcept {
  log(LogLevel::error, fmt::format("{} is for kernels and was called outside of one", what));
}

}  // namespace impl
}  // namespace gantry::rpc
