// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/export.hpp>
#include <gantry/kokkos/compat.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace gantry {

/// Kokkos's own exception for a failed allocation; what() also says which device was asked, and what it has.
class GANTRY_API BadAlloc : public impl::KokkosBadAlloc {
 public:
  BadAlloc(std::string_view space_name, std::size_t bytes, std::string_view label, std::string_view reason);
  [[nodiscard]] const char* what() const noexcept override { return m_what.c_str(); }

 private:
  std::string m_what;
};

}  // namespace gantry
