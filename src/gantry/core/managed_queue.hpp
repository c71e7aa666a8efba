// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/core/managed_object.hpp>
#include <gantry/core/queue.hpp>
#include <gantry/core/queue_ref.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace gantry {

/// Smallest free number for a queue, unique among all queues of the process that are referred to or not yet released.
/// The first DeviceGate::count numbers belong to the default queues.
[[nodiscard]] std::uint32_t take_queue_id();
void give_back_queue_id(std::uint32_t id) noexcept;

/// A queue that programs count. What a QueueRef of a default queue holds in its place is made and read here too.
class ManagedQueue : public ManagedObject<Queue> {
 public:
  ManagedQueue(const DeviceGate& gate, std::uint32_t generation, std::unique_ptr<Queue> queue, QueueOptions options)
      : ManagedObject(gate, generation, std::move(queue)),
        id(options.id),
        concurrency(gate.concurrency.load()),
        label(std::move(options.label)) {}
  ~ManagedQueue() { give_back_queue_id(id); }

  const std::uint32_t id;
  const int concurrency;
  const std::string label;

  /// A reference that takes over the count that a new object starts with.
  static QueueRef adopt(ManagedQueue& queue) noexcept { return QueueRef(&queue); }

  static QueueRef default_queue(const DeviceGate& gate, std::uint32_t generation) noexcept {
    static_assert(sizeof(void*) == 8);
    const std::uint64_t bits = (std::uint64_t{generation} << 32) | (std::uint64_t{gate.index} << 1) | 1U;
    return QueueRef(reinterpret_cast<ManagedQueue*>(bits));
  }
};

/// What a QueueRef that is not empty names.
struct QueueTarget {
  const DeviceGate& gate;
  std::uint32_t generation;
  const ManagedQueue* managed;  ///< null: the default queue

  explicit QueueTarget(const ManagedQueue* reference) noexcept : QueueTarget(decode(reference)) {}
  /// Only inside an admitted call.
  [[nodiscard]] Queue& queue() const noexcept {
    return managed != nullptr ? *managed->target : *gate.default_queue.load(std::memory_order_relaxed);
  }

 private:
  QueueTarget(const DeviceGate& g, std::uint32_t made_in, const ManagedQueue* m)
      : gate(g), generation(made_in), managed(m) {}
  static QueueTarget decode(const ManagedQueue* reference) noexcept {
    const auto bits = reinterpret_cast<std::uint64_t>(reference);
    if ((bits & 1U) != 0) {
      return {DeviceGate::at(static_cast<std::uint32_t>(bits) >> 1), static_cast<std::uint32_t>(bits >> 32), nullptr};
    }
    return {reference->gate, reference->generation, reference};
  }
};

class ManagedEvent : public ManagedObject<Event> {
 public:
  using ManagedObject::ManagedObject;
  static EventRef adopt(ManagedEvent& event) noexcept { return EventRef(&event); }
};

}  // namespace gantry
