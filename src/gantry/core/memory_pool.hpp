// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gantry/base/export.hpp>
#include <gantry/base/status.hpp>
#include <gantry/core/device.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace gantry {

/// Where a pool gets its memory. Thread safety: all functions may be called by any thread at any time.
class MemorySource {
 public:
  virtual ~MemorySource() = default;
  /// At least 128-byte aligned; out_of_memory when there is none.
  virtual Result<void*> allocate(std::size_t bytes) = 0;
  /// Gives back what allocate returned; `bytes` is what was asked for.
  virtual Status free(void* memory, std::size_t bytes) = 0;
  [[nodiscard]] virtual MemoryInfo memory_info() const noexcept = 0;
};

/// The memory of one kind of an open device, which must outlive it.
class GANTRY_API DeviceMemorySource final : public MemorySource {
 public:
  DeviceMemorySource(Device& device, MemoryKind kind) noexcept : m_device(device), m_kind(kind) {}
  Result<void*> allocate(std::size_t bytes) override { return m_device.allocate(m_kind, bytes); }
  Status free(void* memory, std::size_t bytes) override { return m_device.free(m_kind, memory, bytes); }
  [[nodiscard]] MemoryInfo memory_info() const noexcept override { return m_device.memory_info(); }

 private:
  Device& m_device;
  MemoryKind m_kind;
};

struct MemoryPoolOptions {
  std::string name = "memory pool";  ///< for messages: "host:1 device memory"
  /// Above 128: every allocation has its own source memory, a multiple of this, shared with nobody and given back to
  /// the source at once when it is freed. Must be a power of two.
  std::size_t granularity = 128;
  /// The process can address the memory: a build with AddressSanitizer then reports its use after it was freed.
  bool host_addressable = false;
};

struct MemoryPoolStatistics {
  std::size_t used_bytes = 0;    ///< asked for by the program and not freed
  std::size_t peak_bytes = 0;    ///< most of used_bytes
  std::size_t cached_bytes = 0;  ///< held from the source and not in use, rounding included
  std::size_t source_bytes = 0;  ///< held from the source
  std::uint64_t allocations = 0;
  std::uint64_t hits = 0;  ///< allocations that did not need the source
  std::uint64_t live = 0;  ///< allocations not freed
};

/// Caching allocator over a MemorySource. Never reads or writes the memory itself: all bookkeeping lies elsewhere.
///
/// Sizes are rounded up to classes of 128 bytes + a size with three significant bits below the first, because Kokkos
/// puts 128 bytes in front of what a View asks for: at most 12.5 % (or 127 bytes) more than asked for. Small classes
/// are cut from slabs of at most 1 MiB. Freed blocks are kept for the next allocation of their class, whatever still
/// runs on the device: who frees must know that nothing uses the memory.
/// Thread safety: all functions but close() and the destructor may be called by any thread at any time; no lock is held
/// during a call of the source.
class GANTRY_API MemoryPool {
 public:
  MemoryPool(MemorySource& source, MemoryPoolOptions options);
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;
  /// Closes when close() was not called; errors are logged.
  ~MemoryPool();

  /// At least 128-byte aligned; 0 bytes give a unique address. When the source has no memory left, what the pool caches
  /// is given back and the source asked again; then out_of_memory with asked, free and total.
  Result<void*> allocate(std::size_t bytes);

  /// invalid_argument, with nothing changed, for memory that was freed before, that was never allocated here, or that
  /// is not the start of an allocation; the text says which.
  Status free(void* memory);

  /// Gives the source back what is not in use; returns the bytes. What the source fails to take stays in the pool; the
  /// errors are logged.
  std::size_t trim();

  /// Gives everything back to the source, memory in use too; errors are joined. Repeatable: tries again what failed.
  Status close();

  [[nodiscard]] MemoryPoolStatistics statistics() const;

 private:
  struct State;
  std::unique_ptr<State> m_state;
};

}  // namespace gantry
