// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/base/dynamic_library.hpp>
#include <gantry/base/printable.hpp>

#include <fmt/format.h>

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>

namespace gantry {
namespace {

/// The loader takes an empty or relative entry of LD_LIBRARY_PATH as relative to the working directory.
std::string found_by_relative_search(const std::string& name) {
  const char* paths = std::getenv("LD_LIBRARY_PATH");
  if (paths == nullptr || *paths == '\0') return {};
  std::string_view rest = paths;
  while (true) {
    const auto end = rest.find_first_of(":;");
    const std::string_view entry = rest.substr(0, end);
    if (!entry.starts_with('/')) {
      std::string candidate = fmt::format("{}/{}", entry.empty() ? "." : entry, name);
      if (::access(candidate.c_str(), F_OK) == 0) return candidate;
    }
    if (end == std::string_view::npos) return {};
    rest.remove_prefix(end + 1);
  }
}

}  // namespace

Result<DynamicLibrary> DynamicLibrary::open(std::string name) {
  const bool absolute = name.starts_with('/');
  if (name.empty() || name.find('\0') != name.npos || (!absolute && name.find('/') != name.npos)) {
    return Status::error(
        Code::invalid_argument,
        fmt::format("cannot open library {}: valid are a file name and an absolute path", in_quotes(name)));
  }
  if (!absolute) {
    if (const std::string found = found_by_relative_search(name); !found.empty()) {
      return Status::error(Code::unavailable,
                           fmt::format("cannot open library {}: a relative entry of LD_LIBRARY_PATH leads to {}, "
                                       "and libraries are never taken from the working directory",
                                       in_quotes(name), in_quotes(found)));
    }
  }
  void* handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = ::dlerror();
    return Status::error(Code::unavailable, fmt::format("cannot open library {}: {}", in_quotes(name),
                                                        reason != nullptr ? reason : "no reason given"));
  }
  return DynamicLibrary(std::move(name), handle);
}

Result<void*> DynamicLibrary::symbol(const char* name) const {
  if (!m_handle) {
    return Status::error(Code::refused, fmt::format("library '{}' is closed: no symbol '{}'", m_name, name));
  }
  void* address = ::dlsym(m_handle.get(), name);
  if (address == nullptr) {
    return Status::error(Code::not_found, fmt::format("library '{}' has no symbol '{}'", m_name, name));
  }
  return address;
}

Status DynamicLibrary::Traits::close(Context, Handle library) noexcept {
  if (::dlclose(library) == 0) return {};
  const char* reason = ::dlerror();
  return Status::error(Code::driver_error, reason != nullptr ? reason : "dlclose failed");
}

}  // namespace gantry
