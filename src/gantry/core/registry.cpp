// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/core/registry.hpp>

#include <gantry/base/try.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace gantry {

Result<std::vector<BackendReport>> Registry::survey(std::span<const DeviceToken> entries,
                                                    const ProcessResources& resources) const {
  std::vector<BackendReport> reports;
  for (Backend* backend : m_backends) {
    BackendReport report;
    report.name = backend->name();
    report.candidate = backend->candidate();
    const bool named = std::any_of(entries.begin(), entries.end(),
                                   [&](const DeviceToken& entry) { return entry.asks_for(backend->name()); });
    if (!report.candidate && !named) {
      report.availability.reason =
          "not probed: the program has no device code for it, and GANTRY_DEVICES does not name it";
    } else {
      report.availability = backend->probe();
      if (report.availability.available) {
        GANTRY_TRY_ASSIGN(report.devices, backend->devices(resources));
      }
    }
    reports.push_back(std::move(report));
  }
  return reports;
}

std::vector<BackendCalls> Registry::call_statistics() const {
  std::vector<BackendCalls> all;
  for (const Backend* backend : m_backends) all.push_back({std::string(backend->name()), backend->call_statistics()});
  return all;
}

Backend& Registry::backend(std::string_view name) const noexcept {
  return **std::find_if(m_backends.begin(), m_backends.end(), [&](const Backend* b) { return b->name() == name; });
}

}  // namespace gantry
