// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/status.hpp>
#include <gantry/core/device_gate.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace gantry {

/// A queue or an event as programs hold it: the driver's object, the open period that it was made in, and its count.
/// The object itself lives as long as there are references; its target ends at the latest when the device closes.
template <class Target>
struct ManagedObject {
  ManagedObject(const DeviceGate& of, std::uint32_t made_in, std::unique_ptr<Target> made)
      : gate(of), generation(made_in), target(std::move(made)) {}
  ManagedObject(const ManagedObject&) = delete;
  ManagedObject& operator=(const ManagedObject&) = delete;

  const DeviceGate& gate;
  const std::uint32_t generation;
  std::atomic<std::uint32_t> references{1};  ///< reaches 0, and leaves it, under the list's mutex only
  /// Written under the list's mutex; read without it by who holds a reference and is inside an admitted call.
  std::unique_ptr<Target> target;
  bool retired = false;      ///< guarded by the list's mutex
  std::size_t position = 0;  ///< in the list, guarded by its mutex
};

/// Everything of one sort that a device made and has not released. An object is live until its last reference goes,
/// then retired until reap() or close_all() releases it.
template <class Object>
class ManagedList {
 public:
  using Target = typename decltype(Object::target)::element_type;

  void add(Object& object) {
    const std::lock_guard lock(m_mutex);
    insert(m_live, object);
  }

  /// Gives up one reference. `on_last(object)` runs when the program has none left; nothing of the driver is called.
  template <class OnLast>
  void release(Object& object, OnLast&& on_last) {
    for (std::uint32_t count = object.references.load(std::memory_order_relaxed); count > 1;) {
      if (object.references.compare_exchange_weak(count, count - 1, std::memory_order_acq_rel)) return;
    }
    std::unique_lock lock(m_mutex);
    if (object.references.fetch_sub(1, std::memory_order_acq_rel) != 1 || object.retired) return;
    on_last(object);
    if (object.target == nullptr) {
      lock.unlock();
      delete &object;
      return;
    }
    remove(m_live, object);
    object.retired = true;
    insert(m_retired, object);
  }

  /// Releases retired objects that `may_close` accepts, looking at no more than `limit`, in turn.
  template <class MayClose>
  Status reap(std::size_t limit, MayClose&& may_close) {
    Status status;
    for (std::size_t i = 0; i < limit; ++i) {
      std::unique_ptr<Object> object;
      {
        const std::lock_guard lock(m_mutex);
        if (m_retired.empty()) break;
        Object& next = *m_retired[m_next++ % m_retired.size()];
        if (next.references.load(std::memory_order_relaxed) != 0 || !may_close(*next.target)) continue;
        remove(m_retired, next);
        object.reset(&next);
      }
      status.join(object->target->close());
    }
    return status;
  }

  /// References to everything, live or retired, that `wanted` accepts. Give them up with release().
  template <class Wanted>
  std::vector<Object*> pin(Wanted&& wanted) {
    std::vector<Object*> pinned;
    const std::lock_guard lock(m_mutex);
    for (const auto* list : {&m_live, &m_retired}) {
      for (Object* object : *list) {
        if (!wanted(*object->target)) continue;
        object->references.fetch_add(1, std::memory_order_relaxed);
        pinned.push_back(object);
      }
    }
    return pinned;
  }

  /// Closes every target, whoever still refers to it; no call may be inside the device.
  Status close_all() {
    std::vector<std::unique_ptr<Target>> targets;
    {
      const std::lock_guard lock(m_mutex);
      for (Object* object : m_live) targets.push_back(std::move(object->target));
      for (Object* object : m_retired) {
        targets.push_back(std::move(object->target));
        delete object;
      }
      m_live.clear();
      m_retired.clear();
    }
    Status status;
    for (auto& target : targets) status.join(target->close());
    return status;
  }

  [[nodiscard]] bool empty() const noexcept { return m_size.load(std::memory_order_acquire) == 0; }

 private:
  void insert(std::vector<Object*>& list, Object& object) {
    object.position = list.size();
    list.push_back(&object);
    m_size.store(m_live.size() + m_retired.size(), std::memory_order_release);
  }
  void remove(std::vector<Object*>& list, Object& object) {
    list.back()->position = object.position;
    list[object.position] = list.back();
    list.pop_back();
    m_size.store(m_live.size() + m_retired.size(), std::memory_order_release);
  }

  std::mutex m_mutex;  ///< guards all below and what ManagedObject says
  std::vector<Object*> m_live;
  std::vector<Object*> m_retired;
  std::size_t m_next = 0;
  std::atomic<std::size_t> m_size{0};
};

}  // namespace gantry
