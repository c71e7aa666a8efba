// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/core/execution_context.hpp>

namespace gantry::impl {

thread_local constinit ExecutionContext* t_execution_context = nullptr;

}  // namespace gantry::impl
