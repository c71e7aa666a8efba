// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/export.hpp>
#include <gantry/base/status.hpp>

#include <compare>
#include <string>
#include <string_view>
#include <vector>

namespace gantry {

/// A sorted set of logical CPU numbers as the kernel counts them.
class GANTRY_API CpuSet {
 public:
  CpuSet() = default;
  explicit CpuSet(std::vector<int> cpus);

  /// "0-3,8,10-11" as in /sys; an error names what does not parse.
  static Result<CpuSet> parse(std::string_view text);
  /// The calling thread's mask (sched_getaffinity), however many CPUs the machine has.
  static CpuSet of_calling_thread();

  [[nodiscard]] const std::vector<int>& cpus() const noexcept { return m_cpus; }
  [[nodiscard]] bool empty() const noexcept { return m_cpus.empty(); }
  [[nodiscard]] int size() const noexcept { return static_cast<int>(m_cpus.size()); }
  [[nodiscard]] bool contains(int cpu) const noexcept;
  [[nodiscard]] CpuSet intersected(const CpuSet& other) const;
  /// In the form that parse reads; "none" when empty.
  [[nodiscard]] std::string to_string() const;
  /// Binds the calling thread to this set.
  Status bind_calling_thread() const;

  bool operator==(const CpuSet&) const = default;

 private:
  std::vector<int> m_cpus;
};

}  // namespace gantry
