// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/base/biased_lock.hpp>
#include <gantry/base/leaky.hpp>
#include <gantry/base/printable.hpp>
#include <gantry/core/address_index.hpp>
#include <gantry/core/live_object_record.hpp>
#include <gantry/core/live_objects.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace gantry {
namespace {

std::uintptr_t number(const void* address) noexcept {
  return reinterpret_cast<std::uintptr_t>(address);
}

bool is_memory(ObjectKind kind) noexcept {
  return kind == ObjectKind::device_memory || kind == ObjectKind::pinned_memory;
}

using Label = impl::Label;
using Record = impl::LiveObjectRecord;
using impl::label_bytes;
using impl::label_words;
using impl::pack;

/// As messages name an allocation.
std::string allocation_name(std::string_view label, std::size_t bytes, const char* device_name) {
  return fmt::format("{} ({} bytes on {})", in_quotes(label), bytes, device_name);
}

/// Most dead records that keep their address; they also tell a second free from a wild pointer.
constexpr std::size_t remembered = 128;

// Two keys lead to each memory object: its address, and the aligned granule (of the power of two that its size fits)
// that its address lies in. An address is found by looking at its own granule and the one before, for each granule size
// in use. Granule keys and address keys differ in their low six bits.
constexpr unsigned smallest_granule = 8;

std::uint64_t address_key(std::uintptr_t base) noexcept {
  return base << 6 | 63;
}
std::uint64_t granule_key(std::uintptr_t granule, unsigned log2) noexcept {
  return granule << 6 | log2;
}
unsigned granule_log2(std::size_t bytes) noexcept {
  return std::max(smallest_granule, bytes < 2 ? 0u : static_cast<unsigned>(std::bit_width(bytes - 1)));
}

}  // namespace

struct LiveObjects::State {
  AddressIndex<Record> index;              // changed only with the lock held
  std::atomic<std::uint64_t> granules{0};  // bit n: some object was kept under granules of 2^n bytes

  BiasedLock lock;           // guards all below and all changes
  Record* free = nullptr;    // in no index
  Record* oldest = nullptr;  // dead
  Record* youngest = nullptr;
  std::size_t dead = 0;
  std::vector<std::unique_ptr<Record[]>> chunks;
  std::vector<std::size_t> chunk_sizes;
  std::uint64_t sequence = 0;
  std::size_t live = 0;

  // With the lock held.
  Record* revive(ObjectKind kind, std::uintptr_t base, std::size_t bytes) noexcept;
  Record* new_record();
  void unlink(Record& record) noexcept;
  template <class Change>
  void change_keys(const Record& record, Change&& change);
  Record* at(ObjectKind kind, const void* address) const noexcept;
  void retire(Record& record) noexcept;
  Status explain(DeviceHandle device, const void* address);
  template <class Visit>
  void for_each_live(Visit&& visit) const;

  // Without.
  template <class Read>
  bool read_containing(const void* address, Read&& read) const noexcept;
};

/// The dead record of an object that had the same keys; null when there is none.
Record* LiveObjects::State::revive(ObjectKind kind, std::uintptr_t base, std::size_t bytes) noexcept {
  Record* record = index.find(address_key(base), [&](const Record& candidate) {
    if (candidate.live() || is_memory(candidate.kind.load(std::memory_order_relaxed)) != is_memory(kind)) return false;
    return !is_memory(kind) || granule_log2(candidate.bytes.load(std::memory_order_relaxed)) == granule_log2(bytes);
  });
  if (record != nullptr) unlink(*record);
  return record;
}

void LiveObjects::State::unlink(Record& record) noexcept {
  (record.previous != nullptr ? record.previous->next : oldest) = record.next;
  (record.next != nullptr ? record.next->previous : youngest) = record.previous;
  --dead;
}

/// Calls `change` with each key that leads to the record. The size of its granule counts as in use from then on.
template <class Change>
void LiveObjects::State::change_keys(const Record& record, Change&& change) {
  const std::uintptr_t base = record.base.load(std::memory_order_relaxed);
  change(address_key(base));
  if (!is_memory(record.kind.load(std::memory_order_relaxed))) return;
  const unsigned log2 = granule_log2(record.bytes.load(std::memory_order_relaxed));
  change(granule_key(base >> log2, log2));
  granules.store(granules.load(std::memory_order_relaxed) | std::uint64_t{1} << log2, std::memory_order_release);
}

Record* LiveObjects::State::new_record() {
  if (free == nullptr) {
    const std::size_t count = chunks.empty() ? 64 : std::min<std::size_t>(chunk_sizes.back() * 2, 4096);
    chunks.push_back(std::make_unique<Record[]>(count));
    chunk_sizes.push_back(count);
    for (std::size_t i = count; i-- > 0;) chunks.back()[i].next = std::exchange(free, &chunks.back()[i]);
  }
  return std::exchange(free, free->next);
}

Record* LiveObjects::State::at(ObjectKind kind, const void* address) const noexcept {
  return index.find(address_key(number(address)), [&](const Record& record) {
    const ObjectKind its = record.kind.load(std::memory_order_relaxed);
    return record.live() && (is_memory(kind) ? is_memory(its) : its == kind);
  });
}

void LiveObjects::State::retire(Record& record) noexcept {
  record.version.store(record.version.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  --live;
  record.next = nullptr;
  record.previous = youngest;
  (youngest != nullptr ? youngest->next : oldest) = &record;
  youngest = &record;
  if (++dead > remembered) {
    Record& forgotten = *oldest;
    unlink(forgotten);
    change_keys(forgotten, [&](std::uint64_t key) { index.erase(key, &forgotten); });
    forgotten.next = std::exchange(free, &forgotten);
  }
}

template <class Visit>
void LiveObjects::State::for_each_live(Visit&& visit) const {
  for (std::size_t c = 0; c < chunks.size(); ++c) {
    for (std::size_t i = 0; i < chunk_sizes[c]; ++i) {
      if (chunks[c][i].live()) visit(chunks[c][i]);
    }
  }
}

template <class Read>
bool LiveObjects::State::read_containing(const void* address, Read&& read) const noexcept {
  const std::uintptr_t wanted = number(address);
  const auto accept = [&](const Record& record) {
    const std::uint32_t version = record.version.load(std::memory_order_acquire);
    if (version % 2 != 0 || !record.contains(wanted) || !is_memory(record.kind.load(std::memory_order_acquire))) {
      return false;
    }
    read(record);
    return record.version.load(std::memory_order_relaxed) == version;
  };
  for (std::uint64_t sizes = granules.load(std::memory_order_acquire); sizes != 0; sizes &= sizes - 1) {
    const auto log2 = static_cast<unsigned>(std::countr_zero(sizes));
    const std::uintptr_t granule = wanted >> log2;
    if (index.find(granule_key(granule, log2), accept) != nullptr) return true;
    if (granule != 0 && index.find(granule_key(granule - 1, log2), accept) != nullptr) return true;
  }
  return false;
}

Status LiveObjects::State::explain(DeviceHandle device, const void* address) {
  const auto invalid = [&](std::string_view why) {
    return Status::error(Code::invalid_argument, fmt::format("cannot deallocate {}: {}", address, why));
  };
  const std::uintptr_t wanted = number(address);
  LiveObjectView object;
  std::string label;
  if (read_containing(address, [&](const Record& record) {
        object = record.view();
        label = record.full_label();
      })) {
    const std::string name = allocation_name(label, object.bytes, object.device_name);
    if (number(object.address) != wanted) {
      return invalid(fmt::format("it is not the start of an allocation but lies {} bytes into {}",
                                 wanted - number(object.address), name));
    }
    if (object.device.id != device.id) return invalid(fmt::format("it is memory of another device: {}", name));
    return Status::error(Code::stale_handle,
                         fmt::format("cannot deallocate {}: {} was allocated in another open period "
                                     "of the device",
                                     address, name));
  }
  for (const Record* at = youngest; at != nullptr; at = at->previous) {
    const Record& record = *at;
    if (!is_memory(record.kind) || !record.contains(wanted)) continue;
    return invalid(fmt::format("it was freed before{}: {}",
                               wanted == record.base ? "" : " and is not the start of an allocation",
                               allocation_name(record.full_label(), record.bytes, record.device_name)));
  }
  return invalid("it was never allocated here");
}

LiveObjects::LiveObjects() : m_state(std::make_unique<State>()) {}
LiveObjects::~LiveObjects() = default;

LiveObjects& LiveObjects::get() {
  static Leaky<LiveObjects> objects;
  return *objects;
}

void LiveObjects::insert(ObjectKind kind, const void* address, std::size_t bytes, std::string_view label,
                         DeviceHandle device, const char* device_name) {
  const Label words = pack(label);
  auto long_label = label.size() > label_bytes ? std::make_unique<std::string>(label) : nullptr;
  const std::uintptr_t base = number(address);

  State& state = *m_state;
  const std::scoped_lock guard(state.lock);
  Record* const revived = state.revive(kind, base, bytes);
  Record& record = revived != nullptr ? *revived : *state.new_record();
  // The version is odd. Release, so that a reader that sees any of these has seen that.
  record.kind.store(kind, std::memory_order_release);
  record.device.store(device, std::memory_order_release);
  record.base.store(base, std::memory_order_release);
  record.bytes.store(bytes, std::memory_order_release);
  record.device_name.store(device_name, std::memory_order_release);
  record.sequence.store(++state.sequence, std::memory_order_release);
  for (std::size_t i = 0; i < label_words; ++i) record.label[i].store(words[i], std::memory_order_release);
  record.long_label.swap(long_label);  // the one before is destroyed outside of the lock
  record.version.store(record.version.load(std::memory_order_relaxed) + 1, std::memory_order_release);

  if (revived == nullptr) state.change_keys(record, [&](std::uint64_t key) { state.index.insert(key, &record); });
  ++state.live;
}

Result<ObjectKind> LiveObjects::remove_memory(DeviceHandle device, const void* address) {
  State& state = *m_state;
  const std::scoped_lock guard(state.lock);
  Record* record = state.at(ObjectKind::device_memory, address);
  if (record == nullptr || record->device.load(std::memory_order_relaxed) != device) {
    return state.explain(device, address);
  }
  state.retire(*record);
  return record->kind.load(std::memory_order_relaxed);
}

bool LiveObjects::remove(ObjectKind kind, const void* address) noexcept {
  const std::scoped_lock guard(m_state->lock);
  Record* record = m_state->at(kind, address);
  if (record != nullptr) m_state->retire(*record);
  return record != nullptr;
}

bool LiveObjects::find(const void* address, LiveObjectView& found) const noexcept {
  return m_state->read_containing(address, [&](const Record& record) { found = record.view(); });
}

Status LiveObjects::check_access(DeviceHandle device, const void* address, std::size_t bytes,
                                 HostMemory host_memory) const {
  if (bytes == 0) return {};
  LiveObjectView object;
  if (!find(address, object)) {
    if (host_memory == HostMemory::accepted) return {};
    return Status::error(Code::invalid_argument, fmt::format("{} is no memory of an open device: it was freed, its "
                                                             "device was closed since, or it was not allocated here",
                                                             address));
  }
  const std::size_t offset = number(address) - number(object.address);
  const bool its_own = object.device == device || object.kind == ObjectKind::pinned_memory;
  if (its_own && bytes <= object.bytes - offset) [[likely]]
    return {};
  char name[label_bytes + 1];
  label(address, name, sizeof name);
  const std::string allocation = allocation_name(name, object.bytes, object.device_name);
  return Status::error(Code::invalid_argument,
                       its_own ? fmt::format("{} bytes from byte {} on do not lie within {}", bytes, offset, allocation)
                               : fmt::format("{} is memory of another device: {}", address, allocation));
}

std::size_t LiveObjects::label(const void* address, char* buffer, std::size_t buffer_bytes) const noexcept {
  if (buffer_bytes == 0) return 0;
  Label words{};
  if (!m_state->read_containing(address, [&](const Record& record) { words = record.short_label(); })) words = {};
  const char* text = reinterpret_cast<const char*>(words.data());
  const std::size_t length = std::min(std::strlen(text), buffer_bytes - 1);
  std::memcpy(buffer, text, length);
  buffer[length] = '\0';
  return length;
}

std::size_t LiveObjects::count(DeviceId device) const {
  const std::scoped_lock guard(m_state->lock);
  std::size_t n = 0;
  m_state->for_each_live([&](const Record& record) { n += record.device.load().id == device ? 1 : 0; });
  return n;
}

std::size_t LiveObjects::count() const {
  const std::scoped_lock guard(m_state->lock);
  return m_state->live;
}

namespace {

LiveObject described(const Record& record) {
  const LiveObjectView view = record.view();
  return {.kind = view.kind,
          .address = view.address,
          .bytes = view.bytes,
          .label = record.full_label(),
          .device = view.device,
          .device_name = view.device_name,
          .sequence = view.sequence};
}

LeakReport sorted(std::vector<LiveObject> objects) {
  std::ranges::sort(objects, {}, &LiveObject::sequence);
  return {std::move(objects)};
}

}  // namespace

LeakReport LiveObjects::snapshot() const {
  std::vector<LiveObject> objects;
  {
    const std::scoped_lock guard(m_state->lock);
    m_state->for_each_live([&](const Record& record) { objects.push_back(described(record)); });
  }
  return sorted(std::move(objects));
}

LeakReport LiveObjects::snapshot(DeviceId device) const {
  LeakReport report = snapshot();
  std::erase_if(report.objects, [&](const LiveObject& object) { return object.device.id != device; });
  return report;
}

LeakReport LiveObjects::remove_all(DeviceId device) {
  std::vector<LiveObject> objects;
  {
    const std::scoped_lock guard(m_state->lock);
    m_state->for_each_live([&](Record& record) {
      if (record.device.load(std::memory_order_relaxed).id != device) return;
      objects.push_back(described(record));
      m_state->retire(record);
    });
  }
  return sorted(std::move(objects));
}

}  // namespace gantry
