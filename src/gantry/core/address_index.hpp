// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace gantry {

/// Hash multimap from a number to a record, for few writers and readers that take no lock.
///
/// Thread safety: insert and erase only under the owner's lock; find by any thread at any time. A find that overlaps no
/// change of its record sees it. Nothing that a reader may be looking at is ever freed before the index itself: an
/// erased slot is used again by its own bucket, and a table that was outgrown (each half the size of the next) is kept.
/// Records must live as long as the index; a reader may be handed one that has just been erased or used again, so
/// `accept` must decide on the record's own atomic fields.
template <class Record>
class AddressIndex {
 public:
  AddressIndex() { m_tables.push_back(std::make_unique<Table>(first_log2)), publish(); }
  AddressIndex(const AddressIndex&) = delete;
  AddressIndex& operator=(const AddressIndex&) = delete;
  ~AddressIndex() = default;

  void insert(std::uint64_t key, Record* record) {
    Table* table = m_tables.back().get();
    if (m_size >= 2 * table->buckets.size()) table = grow();
    table->insert(key, record);
    ++m_size;
  }

  /// The pair must be in the index.
  void erase(std::uint64_t key, const Record* record) noexcept {
    for (Bucket* bucket = &m_tables.back()->bucket(key); bucket; bucket = bucket->next()) {
      for (Slot& slot : bucket->slots) {
        if (slot.key.load(std::memory_order_relaxed) == key && slot.record.load(std::memory_order_relaxed) == record) {
          slot.record.store(nullptr, std::memory_order_relaxed);
          --m_size;
          return;
        }
      }
    }
  }

  /// A record of this key that `accept(record)` says yes to, or null.
  template <class Accept>
  Record* find(std::uint64_t key, Accept&& accept) const noexcept {
    const Table* table = m_current.load(std::memory_order_acquire);
    for (const Bucket* bucket = &table->bucket(key); bucket; bucket = bucket->next()) {
      for (const Slot& slot : bucket->slots) {
        if (slot.key.load(std::memory_order_relaxed) != key) continue;
        Record* record = slot.record.load(std::memory_order_acquire);
        if (record != nullptr && accept(*record)) return record;
      }
    }
    return nullptr;
  }

 private:
  static constexpr unsigned first_log2 = 5;

  struct Slot {
    std::atomic<std::uint64_t> key{0};
    std::atomic<Record*> record{nullptr};  // null: free
  };

  struct alignas(64) Bucket {  // one cache line; most have no overflow
    Slot slots[3];
    std::atomic<Bucket*> overflow{nullptr};

    Bucket() = default;
    Bucket(const Bucket&) = delete;
    Bucket& operator=(const Bucket&) = delete;
    ~Bucket() { delete next(); }
    [[nodiscard]] Bucket* next() const noexcept { return overflow.load(std::memory_order_acquire); }
  };

  struct Table {
    explicit Table(unsigned log2) : shift(64 - log2), buckets(std::size_t{1} << log2) {}
    unsigned shift;
    std::vector<Bucket> buckets;

    // Multiplying spreads keys that differ in few bits over the high ones.
    [[nodiscard]] std::size_t index(std::uint64_t key) const noexcept { return (key * 0x9E3779B97F4A7C15u) >> shift; }
    [[nodiscard]] Bucket& bucket(std::uint64_t key) noexcept { return buckets[index(key)]; }
    [[nodiscard]] const Bucket& bucket(std::uint64_t key) const noexcept { return buckets[index(key)]; }

    void insert(std::uint64_t key, Record* record) {
      Bucket* last = nullptr;
      for (Bucket* at = &bucket(key); at; last = at, at = at->next()) {
        for (Slot& slot : at->slots) {
          if (slot.record.load(std::memory_order_relaxed) != nullptr) continue;
          slot.key.store(key, std::memory_order_relaxed);
          slot.record.store(record, std::memory_order_release);
          return;
        }
      }
      auto* more = new Bucket;
      more->slots[0].key.store(key, std::memory_order_relaxed);
      more->slots[0].record.store(record, std::memory_order_relaxed);
      last->overflow.store(more, std::memory_order_release);
    }
  };

  void publish() noexcept { m_current.store(m_tables.back().get(), std::memory_order_release); }

  Table* grow() {
    const Table& old = *m_tables.back();
    auto table = std::make_unique<Table>(64 - old.shift + 1);
    for (const Bucket& first : old.buckets) {
      for (const Bucket* bucket = &first; bucket; bucket = bucket->next()) {
        for (const Slot& slot : bucket->slots) {
          Record* record = slot.record.load(std::memory_order_relaxed);
          if (record != nullptr) table->insert(slot.key.load(std::memory_order_relaxed), record);
        }
      }
    }
    m_tables.push_back(std::move(table));
    publish();
    return m_tables.back().get();
  }

  std::atomic<const Table*> m_current{nullptr};
  std::vector<std::unique_ptr<Table>> m_tables;  // the last one counts
  std::size_t m_size = 0;
};

}  // namespace gantry
