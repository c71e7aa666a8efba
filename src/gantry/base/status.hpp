// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/export.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace gantry {

/// What went wrong, as far as a caller can react to it. The values are stable: tools may print and compare them.
enum class Code : std::uint8_t {
  ok = 0,
  invalid_argument,  ///< the caller passed something that can never work
  out_of_memory,     ///< the device (or host) has no room; freeing memory may help
  not_found,         ///< no such device, symbol, file or object
  unavailable,       ///< present in principle, not on this machine (no driver, no image)
  busy,              ///< refused now because something is still in use
  device_closed,     ///< the device is closed or closing
  stale_handle,      ///< the handle was made before the device was last closed
  poisoned,          ///< an earlier fault made the device unusable until it is closed and opened again
  refused,           ///< not allowed here (inside a kernel, in a forked child, after finalize)
  timeout,           ///< a bounded wait ended without its event
  driver_error,      ///< the driver or the operating system failed; see native()
  kernel_error,      ///< code that ran on the device failed (threw, faulted, asserted)
  internal,          ///< a broken invariant of Gantry itself
};

/// Name of a code as it appears in messages and in JSON ("out_of_memory").
[[nodiscard]] GANTRY_API std::string_view code_name(Code code) noexcept;

/// Where in the source an error was made. (std::source_location: not with clang 14 on Debian's standard library.)
struct SourceLocation {
  const char* file = "";
  int line = 0;
  static constexpr SourceLocation current(const char* file = __builtin_FILE(), int line = __builtin_LINE()) noexcept {
    return {file, line};
  }
};

/// Outcome of a fallible call: one pointer, null when all went well. Move-only; clone() copies.
/// Thread safety: as a std::unique_ptr.
class [[nodiscard]] GANTRY_API Status {
 public:
  Status() noexcept = default;
  Status(Status&&) noexcept = default;
  Status& operator=(Status&& other) noexcept;
  ~Status() {
    if (m_error) destroy(std::move(m_error));
  }

  /// An error. `native` is the driver's or the operating system's own number (0: none).
  static Status error(Code code, std::string text, int native = 0, SourceLocation where = SourceLocation::current());

  [[nodiscard]] bool ok() const noexcept { return !m_error; }
  [[nodiscard]] Code code() const noexcept { return m_error ? m_error->code : Code::ok; }
  [[nodiscard]] int native() const noexcept { return m_error ? m_error->native : 0; }
  /// The text alone; empty when ok.
  [[nodiscard]] const std::string& text() const noexcept;
  /// "out_of_memory: text (native error 12) [file:line]" plus one line for each joined error; "ok" when ok.
  /// Control characters are written out: it may go to a terminal.
  [[nodiscard]] std::string message() const;

  /// Puts `context` and ": " before the text; does nothing when ok.
  Status&& with_context(std::string_view context) &&;

  /// Keeps both: this status stays first, `other` is appended. Teardown runs every step and joins what failed.
  void join(Status other);
  /// Drops the errors of one code.
  [[nodiscard]] Status without(Code code) &&;
  /// Number of errors held: 0 when ok, 1 for a single error, more after join.
  [[nodiscard]] std::size_t count() const noexcept;

  [[nodiscard]] Status clone() const;
  /// States that an error is dropped on purpose.
  void ignore() const noexcept {}

 private:
  struct Error {
    Code code;
    int native;
    std::string text;
    SourceLocation where;
    std::unique_ptr<Error> next;
  };
  static void destroy(std::unique_ptr<Error> first) noexcept;  // one by one: a long list must not fill the stack
  std::unique_ptr<Error> m_error;
};

/// Either a value or an error.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T held) : m_state(std::in_place_index<0>, std::move(held)) {}
  /// `error` must be one; an ok status made of a bug in the caller becomes an `internal` error.
  Result(Status error, SourceLocation where = SourceLocation::current())
      : m_state(std::in_place_index<1>, std::move(error)) {
    if (std::get_if<1>(&m_state)->ok()) {
      *std::get_if<1>(&m_state) = Status::error(Code::internal, "a result without a value has no error", 0, where);
    }
  }

  [[nodiscard]] bool ok() const noexcept { return m_state.index() == 0; }
  /// Only when ok().
  [[nodiscard]] T& value() & noexcept { return *std::get_if<0>(&m_state); }
  [[nodiscard]] const T& value() const& noexcept { return *std::get_if<0>(&m_state); }
  [[nodiscard]] T value() && { return std::move(*std::get_if<0>(&m_state)); }  // no reference: nothing dangles
  T* operator->() noexcept { return std::get_if<0>(&m_state); }
  const T* operator->() const noexcept { return std::get_if<0>(&m_state); }
  T& operator*() & noexcept { return value(); }
  const T& operator*() const& noexcept { return value(); }
  T operator*() && { return std::move(*this).value(); }

  /// The error, or an ok status when there is a value.
  [[nodiscard]] Status status() && { return ok() ? Status() : std::move(*std::get_if<1>(&m_state)); }
  [[nodiscard]] Status status() const& { return ok() ? Status() : std::get_if<1>(&m_state)->clone(); }

 private:
  std::variant<T, Status> m_state;
};

}  // namespace gantry
