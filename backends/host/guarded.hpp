// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <exception>

namespace gantry::host {

/// Runs `work`, code of the program; what it throws goes to `report` as text: null when it is no std::exception.
template <class Work, class Report>
[[gnu::always_inline]] inline void guarded(Work&& work, Report&& report) noexcept {
  try {
    work();
  } catch (const std::exception& error) {
    report(error.what());
  } catch (...) {
    report(nullptr);
  }
}

}  // namespace gantry::host
