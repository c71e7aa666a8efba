// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/status.hpp>

#include <stdexcept>

namespace gantry {

/// What the Kokkos layer throws for a failed Status; what() is the whole message.
class GANTRY_API Error : public std::runtime_error {
 public:
  explicit Error(const Status& status) : std::runtime_error(status.message()), m_code(status.code()) {}
  [[nodiscard]] Code code() const noexcept { return m_code; }

 private:
  Code m_code;
};

namespace impl {
[[noreturn]] GANTRY_API void throw_error(Status&& status, const char* context);
/// For places that must not throw: one line on stderr.
GANTRY_API void report_failure(const char* text) noexcept;
/// And for errors of work, which no later call tells: the program does not end with status 0.
GANTRY_API void report_failed_work(const char* text) noexcept;

/// Throws Error with `context` before the text unless the status is ok.
inline void check(Status status, const char* context) {
  if (!status.ok()) [[unlikely]]
    throw_error(std::move(status), context);
}
}  // namespace impl

}  // namespace gantry
