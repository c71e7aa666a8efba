// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/kokkos/BadAlloc.hpp>
#include <gantry/kokkos/Block.hpp>
#include <gantry/kokkos/Route.hpp>
#include <gantry/kokkos/tools.hpp>

#include <string>
#include <utility>

namespace gantry::impl {

namespace {

[[noreturn]] void throw_two_devices(const BlockRequest& request) {
  throw Error(Status::error(Code::invalid_argument,
                            std::string(request.space_name) + ": allocation \"" + request.label + "\" names device " +
                                std::to_string(request.device) + ", its execution space instance is on device " +
                                std::to_string(request.exec->device().id) + "; name one device"));
}

// The default queue of the device that an allocation goes to.
QueueRef owner_for(const BlockRequest& request) {
  if (request.exec != nullptr) {
    if (request.device < 0 || request.device == request.exec->device().id) return request.exec->queue().default_queue();
    if (!(*request.exec == Offload())) throw_two_devices(request);
  } else if (request.device < 0) {
    return Offload().queue();
  }
  auto opened = open_device(request.device);
  check(opened.status(), request.space_name);
  return queue_of(*opened);
}

}  // namespace

Block allocate_block(const BlockRequest& request) {
  QueueRef owner = owner_for(request);
  auto memory = allocate(owner.device(), request.kind, request.bytes, request.label);
  if (!memory.ok()) {
    Status status = std::move(memory).status();
    if (status.code() == Code::out_of_memory)
      throw BadAlloc(request.space_name, request.logical_bytes, request.label, status.text());
    throw_error(std::move(status), request.space_name);
  }
  if (tool_loaded()) tool_allocated(request.space_name, request.label, *memory, request.logical_bytes);
  return {*memory, std::move(owner)};
}

bool settle(const Block& block) noexcept {
  // What fails here fails again in deallocate_block, which reports it.
  with_fence_event("gantry: fence before destruction of elements", [] { return wait_all(); }).ignore();
  return block.owner.usable();
}

void deallocate_block(DeviceHandle device, void* memory, const char* space_name, const char* label,
                      std::size_t logical_bytes) noexcept {
  if (tool_loaded()) tool_deallocated(space_name, label, memory, logical_bytes);
  Status status = with_fence_event("gantry: fence before deallocation", [] { return wait_all(); });
  if (status.code() == Code::refused) return;  // in a forked child, which owns nothing on a device
  status.join(deallocate(device, memory));
  if (!status.ok()) report_failure(std::move(std::move(status).with_context(label)).message().c_str());
}

}  // namespace gantry::impl
