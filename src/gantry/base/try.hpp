// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/status.hpp>

#define GANTRY_IMPL_CONCAT2(a, b) a##b
#define GANTRY_IMPL_CONCAT(a, b) GANTRY_IMPL_CONCAT2(a, b)

/// Returns from the enclosing function when `expression` (a Status) is an error.
#define GANTRY_TRY(expression)                                                                    \
  do {                                                                                            \
    if (::gantry::Status gantry_status = (expression); !gantry_status.ok()) return gantry_status; \
  } while (false)

/// `GANTRY_TRY_ASSIGN(auto x, f());` where f returns a Result: the value, or return with the error.
#define GANTRY_TRY_ASSIGN(declaration, expression)                           \
  auto GANTRY_IMPL_CONCAT(gantry_result_, __LINE__) = (expression);          \
  if (!GANTRY_IMPL_CONCAT(gantry_result_, __LINE__).ok())                    \
    return std::move(GANTRY_IMPL_CONCAT(gantry_result_, __LINE__)).status(); \
  declaration = std::move(GANTRY_IMPL_CONCAT(gantry_result_, __LINE__)).value()
