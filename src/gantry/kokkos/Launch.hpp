// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/device/kernel.hpp>
#include <gantry/kokkos/Error.hpp>
#include <gantry/kokkos/Offload.hpp>
#include <gantry/kokkos/policies.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

namespace gantry::impl {

/// The numbers of a launch that a policy of any kind determines.
template <class Policy>
Launch launch_of(std::int64_t count, std::int64_t chunk) {
  using Kokkos::Experimental::WorkItemProperty;
  Launch launch;
  launch.count = count;
  if constexpr (std::is_same_v<typename Policy::schedule_type::type, Kokkos::Dynamic>) {
    launch.schedule = Schedule::dynamic;
    launch.chunk = chunk > 0 ? chunk : 0;
  }
  launch.heavy = (Policy::work_item_property::value & WorkItemProperty::HintHeavyWeight_t::value) != 0;
  return launch;
}

/// The number of indices of a RangePolicy; throws Error (invalid_argument) when a launch cannot count them.
template <class Domain, class Policy>
std::int64_t count_of(const Policy& policy, const char* pattern) {
  const auto count = Domain::count(policy.begin(), policy.end());
  if (!count) [[unlikely]] {
    throw_error(Status::error(Code::invalid_argument, "range [" + std::to_string(policy.begin()) + ", " +
                                                          std::to_string(policy.end()) +
                                                          ") has more than 2^63 - 1 indices; split it"),
                pattern);
  }
  return *count;
}

/// Sets what a body that folds its shares needs; throws Error (invalid_argument) when a value is too large.
template <class B>
void set_scratch(Launch& launch, const B& body, void* result, std::size_t result_bytes, const char* pattern) {
  const std::size_t scratch = body.share_scratch();
  if (scratch > std::numeric_limits<std::uint32_t>::max()) [[unlikely]] {
    throw_error(Status::error(Code::invalid_argument,
                              "the value takes " + std::to_string(result_bytes) + " bytes; at most 2 GiB are possible"),
                pattern);
  }
  launch.share_scratch = static_cast<std::uint32_t>(scratch);
  launch.result = result;
  launch.result_bytes = result == nullptr ? 0 : static_cast<std::uint32_t>(result_bytes);
}

/// Enqueues a body on the queue of an instance; throws Error when the device refuses it.
template <Body B>
void enqueue(const Offload& space, const Launch& launch, const B& body, const char* pattern) {
  check(space.queue().launch(Kernel<B>::info, launch, &body), pattern);
}

}  // namespace gantry::impl
