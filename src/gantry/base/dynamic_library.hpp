// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/export.hpp>
#include <gantry/base/status.hpp>
#include <gantry/base/unique_handle.hpp>

#include <string>
#include <string_view>
#include <type_traits>

namespace gantry {

/// A shared library opened at run time. Thread safety: symbol() may be called by any thread.
class GANTRY_API DynamicLibrary {
 public:
  /// Opens by file name ("libcuda.so.1", looked up as the loader does) or by absolute path, never from the working
  /// directory, whatever LD_LIBRARY_PATH says. `unavailable` when there is none; invalid_argument for other names.
  static Result<DynamicLibrary> open(std::string name);

  /// The address of a symbol; not_found names the symbol and the library.
  Result<void*> symbol(const char* name) const;

  /// A symbol as a function: `function<int(int)>("name")`.
  template <class Signature>
  Result<std::add_pointer_t<Signature>> function(const char* name) const {
    auto address = symbol(name);
    if (!address.ok()) return std::move(address).status();
    return reinterpret_cast<std::add_pointer_t<Signature>>(*address);
  }

  [[nodiscard]] const std::string& name() const noexcept { return m_name; }

  /// Unloads the library; nothing of it may be in use.
  Status close() noexcept { return m_handle.close(); }

 private:
  struct Traits {
    using Handle = void*;
    using Context = void*;
    static constexpr std::string_view name = "dynamic library";
    static Status close(Context, Handle library) noexcept;
  };
  DynamicLibrary(std::string name, void* handle) noexcept : m_name(std::move(name)), m_handle(nullptr, handle) {}

  std::string m_name;
  UniqueHandle<Traits> m_handle;
};

}  // namespace gantry
