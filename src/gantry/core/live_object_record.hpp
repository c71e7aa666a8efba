// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/core/live_objects.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

namespace gantry::impl {

inline constexpr std::size_t label_words = 6;
inline constexpr std::size_t label_bytes = label_words * sizeof(std::uint64_t) - 1;  // and a null byte
using Label = std::array<std::uint64_t, label_words>;

/// The beginning of a label, padded with zeros: always ends in a null byte. Word by word, because words that are loaded
/// right after their bytes were stored wait for the stores to reach the cache.
inline Label pack(std::string_view text) noexcept {
  Label words{};
  text = text.substr(0, label_bytes);
  std::size_t word = 0;
  for (; text.size() >= sizeof(words[0]); text.remove_prefix(sizeof(words[0]))) {
    std::memcpy(&words[word++], text.data(), sizeof(words[0]));
  }
  for (std::size_t i = text.size(); i-- > 0;) {
    words[word] = words[word] << 8 | static_cast<unsigned char>(text[i]);  // Gantry runs on little-endian machines
  }
  return words;
}

/// One live object. Records are never freed: a dead one waits for the next object, first of all for one at the same
/// address, which is what a caching pool hands out next; the index keeps its keys for that. Everything that readers
/// without a lock look at is atomic; `version` is odd while they must not believe it (a sequence lock with one writer
/// at a time).
struct LiveObjectRecord {
  std::atomic<std::uint32_t> version{1};
  std::atomic<ObjectKind> kind{};
  std::atomic<DeviceHandle> device{};
  std::atomic<std::uintptr_t> base{0};
  std::atomic<std::size_t> bytes{0};
  std::atomic<const char*> device_name{nullptr};
  std::atomic<std::uint64_t> sequence{0};
  std::array<std::atomic<std::uint64_t>, label_words> label{};  // as much of it as has room

  // Only with the lock held.
  std::unique_ptr<std::string> long_label;
  LiveObjectRecord* next = nullptr;      // of the free ones, or the next younger dead one
  LiveObjectRecord* previous = nullptr;  // the next older dead one

  [[nodiscard]] bool live() const noexcept { return version.load(std::memory_order_relaxed) % 2 == 0; }

  [[nodiscard]] bool contains(std::uintptr_t address) const noexcept {
    const std::uintptr_t from = base.load(std::memory_order_acquire);
    return address >= from && address - from < std::max<std::size_t>(bytes.load(std::memory_order_acquire), 1);
  }

  [[nodiscard]] LiveObjectView view() const noexcept {
    // Acquire, so that the check of the version comes after them.
    return {.kind = kind.load(std::memory_order_acquire),
            .address = reinterpret_cast<void*>(base.load(std::memory_order_acquire)),
            .bytes = bytes.load(std::memory_order_acquire),
            .device = device.load(std::memory_order_acquire),
            .device_name = device_name.load(std::memory_order_acquire),
            .sequence = sequence.load(std::memory_order_acquire)};
  }

  [[nodiscard]] Label short_label() const noexcept {
    Label words{};
    for (std::size_t i = 0; i < label_words; ++i) words[i] = label[i].load(std::memory_order_acquire);
    return words;
  }

  [[nodiscard]] std::string full_label() const {
    if (long_label) return *long_label;
    const Label words = short_label();
    return reinterpret_cast<const char*>(words.data());
  }
};

}  // namespace gantry::impl
