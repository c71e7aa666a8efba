// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <backends/host/event_state.hpp>
#include <gantry/core/kernel.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

namespace gantry::host {

/// The beginning of a label, kept for messages: a launch's own label may die when the call returns.
class ShortLabel {
 public:
  ShortLabel& operator=(const char* text) noexcept {
    m_text[0] = '\0';
    if (text != nullptr) {
      const std::size_t length = strnlen(text, m_text.size() - 1);
      std::memcpy(m_text.data(), text, length);
      m_text[length] = '\0';
    }
    return *this;
  }
  /// Null when there is none.
  [[nodiscard]] const char* get() const noexcept { return m_text[0] != '\0' ? m_text.data() : nullptr; }

 private:
  std::array<char, 96> m_text{};
};

/// The copy of a kernel's body: in the object when it is small, else on the heap, which is kept for the next one.
class BodyStorage {
 public:
  BodyStorage() = default;
  BodyStorage(const BodyStorage&) = delete;
  BodyStorage& operator=(const BodyStorage&) = delete;
  ~BodyStorage() { drop_heap(); }

  /// Room for a body; std::bad_alloc when there is none.
  void* room(const KernelInfo& kernel) {
    if (kernel.size <= sizeof(m_small) && kernel.align <= alignof(std::max_align_t)) return m_small;
    if (kernel.size > m_heap_bytes || kernel.align > m_heap_align) {
      drop_heap();
      m_heap = ::operator new(kernel.size, std::align_val_t(kernel.align));
      m_heap_bytes = kernel.size;
      m_heap_align = kernel.align;
    }
    return m_heap;
  }

 private:
  void drop_heap() noexcept {
    if (m_heap != nullptr) ::operator delete(m_heap, std::align_val_t(m_heap_align));
    m_heap = nullptr;
    m_heap_bytes = 0;
  }
  void* m_heap = nullptr;
  std::size_t m_heap_bytes = 0;
  std::size_t m_heap_align = 1;
  alignas(std::max_align_t) unsigned char m_small[192];
};

/// One entry of a stream that has to wait for those before it.
struct Command {
  enum class Kind : std::uint8_t { kernel, record, wait, host_function };
  Kind kind = Kind::kernel;
  Command* next = nullptr;

  const KernelInfo* kernel = nullptr;
  Launch launch;
  float estimate = 0;
  ShortLabel label;
  BodyStorage storage;
  void* body = nullptr;

  std::shared_ptr<EventState> event;

  void (*function)(void*) = nullptr;
  void* argument = nullptr;
};

}  // namespace gantry::host
