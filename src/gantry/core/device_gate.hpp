// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/status.hpp>
#include <gantry/core/fork_guard.hpp>
#include <gantry/core/handle.hpp>
#include <gantry/core/rundown.hpp>

#include <atomic>
#include <cstdint>

namespace gantry {

class ManagedDevice;
class Queue;

/// The one place that a call on a device passes. Gates are static and never freed, so that a handle of a device which
/// is long gone can still be checked.
struct alignas(64) DeviceGate {
  static constexpr unsigned count = 512;

  std::atomic<std::uint32_t> admitted{0};      ///< generation whose calls may enter; 0: none
  std::atomic<std::uint32_t> deciding{0};      ///< generation that a close has stopped and may yet admit again; 0: none
  std::atomic<Queue*> default_queue{nullptr};  ///< valid inside a call that was admitted
  std::atomic<std::uint32_t> generation{1};    ///< of the open period that is or comes next
  std::atomic<int> concurrency{0};             ///< of the last open period
  std::uint16_t index = 0;
  DeviceId id = -1;
  std::atomic<ManagedDevice*> device{nullptr};

  /// A free gate for a device, or null when all are taken.
  static DeviceGate* acquire(DeviceId id, ManagedDevice* device) noexcept;
  static void release(DeviceGate& gate) noexcept;
  static DeviceGate& at(unsigned index) noexcept { return s_all[index]; }

  /// Whether the open period lasts; a close of it may still be deciding.
  [[nodiscard]] bool current(std::uint32_t period) const noexcept {
    // A close stores `deciding` before it takes `admitted` back, and clears it after it has restored that.
    return admitted.load() == period || deciding.load() == period || admitted.load() == period;
  }
  [[nodiscard]] unsigned lane() const noexcept { return index % RundownSlot::lanes; }
  /// The default queue has the same number in every open period.
  [[nodiscard]] std::uint32_t default_queue_id() const noexcept { return index + 1U; }

 private:
  static DeviceGate s_all[count];
};

/// A call on a device in progress: while one lives that was admitted, the device is not torn down.
class DeviceCall {
 public:
  /// Enters the open period `generation` (not 0) of a device; operator bool tells whether that worked.
  DeviceCall(const DeviceGate& gate, std::uint32_t generation) noexcept
      : m_rundown(gate.lane()),
        m_admitted(gate.admitted.load(std::memory_order_seq_cst) == generation && !in_forked_child()) {}
  explicit operator bool() const noexcept { return m_admitted; }

 private:
  RundownGuard m_rundown;
  bool m_admitted;
};

/// Why a call of that generation was not admitted: refused, device_closed, stale_handle, invalid_argument.
[[nodiscard]] Status not_admitted(const DeviceGate& gate, std::uint32_t generation);

/// Waits while a close of that generation decides whether it goes ahead; true when the call should be tried again.
/// Never inside a DeviceCall. Inside a kernel it does not wait.
[[nodiscard]] bool await_decision(const DeviceGate& gate, std::uint32_t generation) noexcept;

/// Runs `call` inside the open period `generation` of a device, or says why not. `call` returns what a Status converts
/// to.
template <class Call>
[[gnu::always_inline]] inline auto with_device(const DeviceGate& gate, std::uint32_t generation, Call&& call)
    -> decltype(call()) {
  do {
    const DeviceCall entered(gate, generation);
    if (entered) [[likely]]
      return call();
  } while (await_decision(gate, generation));
  return not_admitted(gate, generation);
}

}  // namespace gantry
