// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/poison.hpp>
#include <gantry/base/spin_lock.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace gantry {

struct ObjectPoolStatistics {
  std::size_t live = 0;      ///< objects made and not destroyed
  std::size_t peak = 0;      ///< most of live
  std::size_t capacity = 0;  ///< objects that there is room for
  std::uint64_t made = 0;    ///< objects made since the pool was made
};

/// Objects of one type at stable addresses, without a trip to the heap for each. Room grows by chunks and is given back
/// by the pool's destructor, when no object may be left.
/// Thread safety: all functions may be called by any thread at any time; constructors and destructors of the objects
/// run outside of the lock.
template <class T>
class ObjectPool {
 public:
  ObjectPool() = default;
  ObjectPool(const ObjectPool&) = delete;
  ObjectPool& operator=(const ObjectPool&) = delete;
  ~ObjectPool() {
    for (Chunk& chunk : m_chunks) unpoison(chunk.get(), sizeof(Slot) * chunk_objects);
  }

  /// Makes an object; what its constructor throws leaves the pool as it was.
  template <class... Args>
  [[nodiscard]] T* make(Args&&... args) {
    Slot* slot = take();
    try {
      return new (slot->storage) T(std::forward<Args>(args)...);
    } catch (...) {
      give_back(slot);
      throw;
    }
  }

  /// Destroys an object of this pool; its room is the next to be used again.
  void destroy(T* object) noexcept {
    object->~T();
    give_back(reinterpret_cast<Slot*>(reinterpret_cast<unsigned char*>(object) - offsetof(Slot, storage)));
  }

  [[nodiscard]] ObjectPoolStatistics statistics() const noexcept {
    const std::scoped_lock lock(m_lock);
    return m_statistics;
  }

 private:
  static constexpr std::size_t chunk_objects = 64;
  struct Slot {
    Slot* next = nullptr;  // outside of the storage, which is poisoned while no object lives in it
    alignas(T) unsigned char storage[sizeof(T)];
  };
  using Chunk = std::unique_ptr<Slot[]>;

  Slot* take() {
    const std::scoped_lock lock(m_lock);
    if (m_free == nullptr) grow();
    Slot* slot = m_free;
    m_free = slot->next;
    unpoison(slot->storage, sizeof(T));
    ++m_statistics.made;
    if (++m_statistics.live > m_statistics.peak) m_statistics.peak = m_statistics.live;
    return slot;
  }

  void give_back(Slot* slot) noexcept {
    const std::scoped_lock lock(m_lock);
    poison(slot->storage, sizeof(T));
    slot->next = m_free;
    m_free = slot;
    --m_statistics.live;
  }

  void grow() {
    m_chunks.push_back(Chunk(new Slot[chunk_objects]));
    for (std::size_t i = chunk_objects; i-- > 0;) {
      Slot& slot = m_chunks.back()[i];
      poison(slot.storage, sizeof(T));
      slot.next = m_free;
      m_free = &slot;
    }
    m_statistics.capacity += chunk_objects;
  }

  mutable SpinLock m_lock;  // guards all below
  Slot* m_free = nullptr;
  std::vector<Chunk> m_chunks;
  ObjectPoolStatistics m_statistics;
};

}  // namespace gantry
