// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/base/log.hpp>
#include <gantry/core/exit.hpp>
#include <gantry/kokkos/Error.hpp>

namespace gantry::impl {

void throw_error(Status&& status, const char* context) {
  throw Error(std::move(status).with_context(context));
}

void report_failure(const char* text) noexcept {
  log(LogLevel::error, text);
}

void report_failed_work(const char* text) noexcept {
  fail_exit(Status::error(Code::kernel_error, text));
}

}  // namespace gantry::impl
