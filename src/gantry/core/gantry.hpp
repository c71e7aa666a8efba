// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/status.hpp>
#include <gantry/core/allocation.hpp>
#include <gantry/core/call_statistics.hpp>
#include <gantry/core/device.hpp>
#include <gantry/core/device_status.hpp>
#include <gantry/core/handle.hpp>
#include <gantry/core/leak_report.hpp>
#include <gantry/core/queue_ref.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// Gantry without Kokkos: devices that are opened, used, closed and opened again.
///
/// Thread safety: every function may be called by any thread at any time. After fork the child's calls return
/// `refused`. No call throws.
namespace gantry {

/// The devices that this process may use, in the order of GANTRY_DEVICES. Opens none of them. An error names the
/// setting that does not parse and lists what exists.
[[nodiscard]] GANTRY_API Result<std::vector<DeviceStatus>> devices();

[[nodiscard]] GANTRY_API Result<DeviceChoice> default_device();

/// Opens a device, or does nothing when it is open: however many threads ask at once, it is opened once. A failed open
/// leaves the device closed; the next call tries again.
[[nodiscard]] GANTRY_API Result<DeviceHandle> open_device(DeviceId id);

/// Closes a device: every step runs, every error is joined into the status. Closing a closed device is ok. `busy` also
/// when calls of other threads do not return in time.
/// `refused` inside a kernel or host function.
GANTRY_API Status close_device(DeviceId id, CloseMode mode = CloseMode::refuse_if_busy);
/// Closes every open device with CloseMode::force and emits ONE leak report for all of them.
GANTRY_API Status close_all_devices();

/// What the program holds now, on all devices.
[[nodiscard]] GANTRY_API LeakReport leak_report();
/// Called with every non-empty leak report that a close emits, on the closing thread, no lock held; null: none.
/// Returns the callback before.
GANTRY_API LeakCallback set_leak_callback(LeakCallback callback, void* user);

/// What follows takes a handle of open_device, and refuses one whose open period is over (device_closed, stale_handle).
/// Where work of the device has failed, what makes something new returns that error once (kernel_error), then
/// `poisoned`.

/// The queue that every open device has; not counted, not in the leak report.
[[nodiscard]] GANTRY_API Result<QueueRef> default_queue(DeviceHandle device);
[[nodiscard]] GANTRY_API Result<QueueRef> create_queue(DeviceHandle device, std::string label);
[[nodiscard]] GANTRY_API Result<EventRef> create_event(DeviceHandle device, std::string label = "");

/// Memory of (or for) a device, at least 128-byte aligned, contents undefined. 0 bytes: a unique address.
/// out_of_memory names label, device, the bytes asked for, free and total; smaller requests work after it.
[[nodiscard]] GANTRY_API Result<void*> allocate(DeviceHandle device, MemoryKind kind, std::size_t bytes,
                                                std::string_view label);
/// Gives memory back. Does not wait: work that uses it must have been waited for, except inside a kernel, where the
/// memory is kept until that kernel has completed. Errors, with nothing changed: freed before, never allocated here,
/// not the start of an allocation, memory of another device. Null is ok, and so is memory of an open period that has
/// ended: it was taken back.
GANTRY_API Status deallocate(DeviceHandle device, void* memory);

/// The allocation that contains an address. Readers take no lock. False for memory that is not ours.
[[nodiscard]] GANTRY_API bool find_allocation(const void* address, Allocation& found) noexcept;

/// Waits for every queue of every open device; joins their errors. The error of a device whose work has failed is
/// returned once, unless a call on the device was told before. Inside a kernel or host function it waits for nothing:
/// the work to wait for could be the caller's own, or wait for that.
GANTRY_API Status fence_all();
/// As fence_all, for callers that cannot return an error, such as destructors: an error of the work is left for the
/// next call on its device that can.
GANTRY_API Status wait_all();

/// Waits until what kernels of all devices have printed so far is visible, as a fence does, but without waiting for the
/// kernels; at most GANTRY_CLOSE_TIMEOUT a device. Inside kernels too; in a handler not for the device that called it.
GANTRY_API void flush_output() noexcept;

/// What code on the devices of each backend has called since the process began.
[[nodiscard]] GANTRY_API std::vector<BackendCalls> call_statistics();

/// Gives back to the driver what the memory pools of a device cache. Returns the bytes.
GANTRY_API Result<std::size_t> trim(DeviceHandle device);

}  // namespace gantry
