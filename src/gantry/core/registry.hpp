// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/status.hpp>
#include <gantry/core/backend.hpp>
#include <gantry/core/selection.hpp>

#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace gantry {

/// The backends of one runtime, in order of preference, and what they found. Thread safety: immutable.
class Registry {
 public:
  explicit Registry(std::vector<Backend*> backends) : m_backends(std::move(backends)) {}

  /// Probes the backends that are candidates or that an entry asks for, and lists their devices. The others stay
  /// untouched: no driver library is opened for them.
  [[nodiscard]] Result<std::vector<BackendReport>> survey(std::span<const DeviceToken> entries,
                                                          const ProcessResources& resources) const;

  /// What the devices of each backend have called.
  [[nodiscard]] std::vector<BackendCalls> call_statistics() const;

  /// The backend of that name, which a report of survey() named.
  [[nodiscard]] Backend& backend(std::string_view name) const noexcept;

 private:
  std::vector<Backend*> m_backends;
};

}  // namespace gantry
