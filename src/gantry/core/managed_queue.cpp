// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/core/managed_queue.hpp>

#include <gantry/base/leaky.hpp>

#include <functional>
#include <mutex>
#include <queue>
#include <vector>

namespace gantry {
namespace {

struct QueueIds {
  std::mutex mutex;  // guards all below
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> free;
  std::uint32_t next = DeviceGate::count + 1;
};

QueueIds& queue_ids() {
  static Leaky<QueueIds> ids;
  return *ids;
}

}  // namespace

std::uint32_t take_queue_id() {
  QueueIds& ids = queue_ids();
  const std::lock_guard lock(ids.mutex);
  if (ids.free.empty()) return ids.next++;
  const std::uint32_t id = ids.free.top();
  ids.free.pop();
  return id;
}

void give_back_queue_id(std::uint32_t id) noexcept {
  QueueIds& ids = queue_ids();
  const std::lock_guard lock(ids.mutex);
  ids.free.push(id);
}

}  // namespace gantry
