// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/status.hpp>
#include <gantry/core/backend.hpp>
#include <gantry/core/device_gate.hpp>
#include <gantry/core/device_services.hpp>
#include <gantry/core/device_status.hpp>
#include <gantry/core/leak_report.hpp>
#include <gantry/core/live_objects.hpp>
#include <gantry/core/managed_queue.hpp>
#include <gantry/core/memory_pool.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace gantry {

/// One device of the list for as long as the process lives: its state, its open periods, and all that a program gets
/// from it. Device is the driver's side of one open period.
///
/// closed -> opening -> ready -> (poisoned) -> closing -> closed. A close whose work does not end leaves the device
/// poisoned, with all that the work may use; the next open or close tries to finish it.
/// Thread safety: all functions, any thread. Functions that take a generation return stale_handle or device_closed when
/// it is not the open one.
class ManagedDevice : private DeviceServices {
 public:
  struct Environment {
    LiveObjects& live;
    std::chrono::nanoseconds close_timeout;
    ProcessResources resources;
  };

  ManagedDevice(DeviceId id, Backend& backend, DeviceInfo info, const Environment& environment);
  /// For tests: closes by force. No reference to a queue or event may be left.
  ~ManagedDevice() override;
  ManagedDevice(const ManagedDevice&) = delete;
  ManagedDevice& operator=(const ManagedDevice&) = delete;

  [[nodiscard]] const DeviceInfo& info() const noexcept { return m_info; }
  [[nodiscard]] DeviceState state() const;
  [[nodiscard]] DeviceStatus status() const;

  Result<DeviceHandle> open();
  /// What the program held is moved to the end of `leaked` (nothing, when the close was refused).
  Status close(CloseMode mode, LeakReport& leaked);

  Result<QueueRef> default_queue(std::uint32_t generation);
  Result<QueueRef> create_queue(std::uint32_t generation, std::string label);
  Result<EventRef> create_event(std::uint32_t generation, std::string label);
  Result<void*> allocate(std::uint32_t generation, MemoryKind kind, std::size_t bytes, std::string_view label);
  Status deallocate(std::uint32_t generation, void* memory);
  /// LiveObjects::check_access for an operand of a queue's call.
  Status check_access(std::uint32_t generation, const void* address, std::size_t bytes,
                      LiveObjects::HostMemory host_memory) const {
    return m_environment.live.check_access({m_id, generation}, address, bytes, host_memory);
  }
  Result<std::size_t> trim(std::uint32_t generation);
  /// Waits for all queues, retired ones too; ok when closed. The error of a poisoned device is told, once. Does not
  /// wait inside a kernel or host function.
  Status fence();
  /// As fence, for callers that can return no error of the work: it stays to be told.
  Status wait();

  /// Makes what its kernels printed visible, within the time that a close has. Any thread, inside kernels too.
  void flush_output();

  /// Inside the device: whether work of it has failed.
  [[nodiscard]] bool poisoned() const { return !m_device->poison().ok(); }
  /// What the caller of a call inside the device is told when that ended with `status`: the error that poisoned the
  /// device goes to one caller, all others learn that it is poisoned, and why.
  Status told(Status status);

  /// Gives up a reference; releases the object when it was the last and nothing of it runs. Never waits.
  void release(ManagedQueue& queue) noexcept;
  void release(ManagedEvent& event) noexcept;

 private:
  struct Memory {
    Memory(Device& device, MemoryKind kind, const std::string& device_name);
    DeviceMemorySource source;
    MemoryPool pool;
  };

  /// One step of opening and what undoes it when closing.
  struct Step {
    const char* name;
    Status (ManagedDevice::*open)();
    Status (ManagedDevice::*close)();
    bool while_work_runs;  ///< close may run although work of the device still does
  };
  static const std::array<Step, 7> steps;

  Status open_device();
  Status close_device();
  Status close_events();
  Status open_default_queue();
  Status close_queues();
  Status open_memory();
  Status close_memory();
  Status report_leaks();
  Status open_calls();
  Status close_calls();
  Status drain();

  Status stop_calls(CloseMode mode);
  Status undo(std::size_t count);
  Status busy(const LeakReport& held) const;
  template <class Work>
  Status while_open(Work&& work);
  Status wait_for_queues();
  Status poison_once();
  Status reap();
  [[nodiscard]] std::uint32_t generation() const noexcept { return m_gate.generation.load(); }
  [[nodiscard]] Memory& memory(MemoryKind kind) { return *m_memory[static_cast<std::size_t>(kind)]; }
  Result<void*> take_memory(std::uint32_t generation, MemoryKind kind, std::size_t bytes, std::string_view label);
  Result<MemoryPool*> forget(std::uint32_t generation, void* memory);
  static void free_deferred(void* argument);

  // DeviceServices
  [[nodiscard]] DeviceId id() const noexcept override { return m_id; }
  [[nodiscard]] const std::string& name() const noexcept override { return m_info.name; }
  Result<void*> allocate(std::size_t bytes) override;
  Status deallocate(void* memory) override;

  const DeviceId m_id;
  Backend& m_backend;
  const DeviceInfo m_info;
  const Environment m_environment;
  DeviceGate& m_gate;

  std::mutex m_lifecycle;  ///< serialises open and close; guards m_opened, m_work_runs and m_leaked
  std::size_t m_opened = 0;
  bool m_work_runs = false;
  LeakReport m_leaked;

  // Written by open and close only; read inside admitted calls.
  std::atomic<DeviceState> m_state{DeviceState::closed};
  std::uint32_t m_open_generation = 0;
  std::unique_ptr<Device> m_device;
  std::unique_ptr<Queue> m_default_queue;
  std::array<std::optional<Memory>, 2> m_memory;
  std::atomic<bool> m_poison_told{false};

  ManagedList<ManagedQueue> m_queues;
  ManagedList<ManagedEvent> m_events;
};

}  // namespace gantry
