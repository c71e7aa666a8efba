// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/export.hpp>
#include <gantry/base/status.hpp>

#include <cstdint>
#include <string_view>
#include <utility>

namespace gantry {

/// Logs an error of a destructor, which can return none, and counts it.
GANTRY_API void report_close_error(std::string_view what, const Status& error) noexcept;
/// Number of errors reported that way since the process began; tests require that it stays.
[[nodiscard]] GANTRY_API std::uint64_t close_error_count() noexcept;

/// Owner of one driver handle: two pointers wide, move-only, no heap. Traits say what is owned:
///
///     struct StreamTraits {
///       using Handle = CUstream;          // null when default-initialised
///       using Context = const Driver*;    // what closing needs
///       static constexpr std::string_view name = "stream";
///       static Status close(Context driver, Handle stream) noexcept;
///     };
template <class Traits>
class [[nodiscard]] UniqueHandle {
 public:
  using Handle = typename Traits::Handle;
  using Context = typename Traits::Context;

  UniqueHandle() noexcept = default;
  UniqueHandle(Context context, Handle handle) noexcept : m_context(context), m_handle(handle) {}
  UniqueHandle(UniqueHandle&& other) noexcept : m_context(other.m_context), m_handle(other.release()) {}
  UniqueHandle& operator=(UniqueHandle&& other) noexcept {
    if (this != &other) {
      reset();
      m_context = other.m_context;
      m_handle = other.release();
    }
    return *this;
  }
  UniqueHandle(const UniqueHandle&) = delete;
  UniqueHandle& operator=(const UniqueHandle&) = delete;
  ~UniqueHandle() { reset(); }

  explicit operator bool() const noexcept { return m_handle != Handle{}; }
  [[nodiscard]] Handle get() const noexcept { return m_handle; }
  [[nodiscard]] Context context() const noexcept { return m_context; }
  /// Gives the handle up without closing it.
  [[nodiscard]] Handle release() noexcept { return std::exchange(m_handle, Handle{}); }

  /// Closes the handle, if any, and returns what the driver says. It is given up either way: no driver says what a
  /// handle is worth after its close has failed.
  Status close() noexcept {
    if (m_handle == Handle{}) return {};
    return Traits::close(m_context, release());
  }
  /// As close; an error is logged and counted.
  void reset() noexcept {
    if (const Status status = close(); !status.ok()) report_close_error(Traits::name, status);
  }

 private:
  Context m_context{};
  Handle m_handle{};
};

}  // namespace gantry
