// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/base/printable.hpp>
#include <gantry/kokkos/BadAlloc.hpp>

namespace gantry {

BadAlloc::BadAlloc(std::string_view space_name, std::size_t bytes, std::string_view label, std::string_view reason)
    : impl::KokkosBadAlloc(space_name, bytes, label), m_what(printable_lines(impl::KokkosBadAlloc::what())) {
  m_what.append(" ").append(printable_lines(reason));
}

}  // namespace gantry
