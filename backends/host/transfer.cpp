// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <backends/host/cost.hpp>
#include <backends/host/transfer.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace gantry::host {
namespace {

constexpr std::uint64_t block = 4096;
/// From so many bytes on, what is stored will not be read from a cache anyway.
constexpr std::uint64_t stream_from = std::uint64_t{8} << 20;
/// The pattern is laid out to so many bytes where its size divides them.
constexpr std::size_t tile = 64;

#if defined(__SSE2__)

/// Copies with stores that bypass the caches.
void stream_copy(char* to, const char* from, std::size_t bytes) noexcept {
  const std::size_t lead = std::min<std::size_t>(-reinterpret_cast<std::uintptr_t>(to) % 16, bytes);
  std::memcpy(to, from, lead);
  to += lead;
  from += lead;
  bytes -= lead;
  for (; bytes >= tile; to += tile, from += tile, bytes -= tile) {
    const auto* source = reinterpret_cast<const __m128i*>(from);
    auto* target = reinterpret_cast<__m128i*>(to);
    _mm_prefetch(from + 512, _MM_HINT_NTA);
    const __m128i a = _mm_loadu_si128(source);
    const __m128i b = _mm_loadu_si128(source + 1);
    const __m128i c = _mm_loadu_si128(source + 2);
    const __m128i d = _mm_loadu_si128(source + 3);
    _mm_stream_si128(target, a);
    _mm_stream_si128(target + 1, b);
    _mm_stream_si128(target + 2, c);
    _mm_stream_si128(target + 3, d);
  }
  _mm_sfence();  // such stores are in no order with the one that says that they were made
  std::memcpy(to, from, bytes);
}

void stream_tiles(char* to, const char* pattern, std::size_t tiles) noexcept {
  const auto* source = reinterpret_cast<const __m128i*>(pattern);
  const __m128i a = _mm_loadu_si128(source);
  const __m128i b = _mm_loadu_si128(source + 1);
  const __m128i c = _mm_loadu_si128(source + 2);
  const __m128i d = _mm_loadu_si128(source + 3);
  for (auto* target = reinterpret_cast<__m128i*>(to); tiles > 0; --tiles, target += 4) {
    _mm_stream_si128(target, a);
    _mm_stream_si128(target + 1, b);
    _mm_stream_si128(target + 2, c);
    _mm_stream_si128(target + 3, d);
  }
  _mm_sfence();
}

#else

void stream_copy(char* to, const char* from, std::size_t bytes) noexcept {
  std::memcpy(to, from, bytes);
}

void stream_tiles(char* to, const char* pattern, std::size_t tiles) noexcept {
  for (; tiles > 0; --tiles, to += tile) std::memcpy(to, pattern, tile);
}

#endif

void run_copy(const void* body, HostWorker& worker) {
  const auto& copy = *static_cast<const CopyBody*>(body);
  for (WorkRange piece; worker.next(piece);) {
    const std::uint64_t begin = static_cast<std::uint64_t>(piece.begin) * block;
    const std::uint64_t end = std::min(static_cast<std::uint64_t>(piece.end) * block, copy.bytes);
    if (begin >= end) continue;
    if (copy.bytes >= stream_from) {
      stream_copy(copy.to + begin, copy.from + begin, end - begin);
    } else {
      std::memcpy(copy.to + begin, copy.from + begin, end - begin);
    }
  }
}

void fill_elements(char* to, const char* pattern, std::size_t pattern_bytes, std::uint64_t count) noexcept {
  for (std::uint64_t i = 0; i < count; ++i) std::memcpy(to + i * pattern_bytes, pattern, pattern_bytes);
}

void run_fill(const void* body, HostWorker& worker) {
  const auto& fill = *static_cast<const FillBody*>(body);
  const std::size_t size = fill.pattern_bytes;
  for (WorkRange piece; worker.next(piece);) {
    char* to = fill.to + static_cast<std::uint64_t>(piece.begin) * size;
    std::uint64_t bytes = static_cast<std::uint64_t>(piece.end - piece.begin) * size;
    if (size == 1 && fill.count < stream_from) {
      std::memset(to, *fill.pattern, bytes);
      continue;
    }
    if (tile % size != 0 || bytes < 4 * tile) {
      fill_elements(to, fill.pattern, size, bytes / size);
      continue;
    }
    // Up to where tiles are aligned, element by element; where elements never are, tiles begin anywhere.
    const std::size_t gap = -reinterpret_cast<std::uintptr_t>(to) % tile;
    const std::size_t lead = gap % size == 0 ? gap : 0;
    fill_elements(to, fill.pattern, size, lead / size);
    to += lead;
    bytes -= lead;
    char pattern[tile];
    fill_elements(pattern, fill.pattern, size, tile / size);
    const std::size_t tiles = bytes / tile;
    const bool aligned = reinterpret_cast<std::uintptr_t>(to) % 16 == 0;
    if (fill.count * size >= stream_from && aligned) {
      stream_tiles(to, pattern, tiles);
    } else {
      for (std::size_t i = 0; i < tiles; ++i) std::memcpy(to + i * tile, pattern, tile);
    }
    fill_elements(to + tiles * tile, fill.pattern, size, (bytes - tiles * tile) / size);
  }
}

std::unique_ptr<char[]> duplicate(const char* from, std::size_t bytes) {
  std::unique_ptr<char[]> copy(new char[bytes]);
  std::memcpy(copy.get(), from, bytes);
  return copy;
}

void copy_write(void* to, const void* from) {
  auto* copy = new (to) CopyBody(*static_cast<const CopyBody*>(from));
  copy->from = duplicate(copy->from, copy->bytes).release();
}
void destroy_write(void* body) {
  delete[] static_cast<CopyBody*>(body)->from;
}

void copy_fill(void* to, const void* from) {
  auto* copy = new (to) FillBody(*static_cast<const FillBody*>(from));
  copy->pattern = duplicate(copy->pattern, copy->pattern_bytes).release();
}
void destroy_fill(void* body) {
  delete[] static_cast<FillBody*>(body)->pattern;
}

}  // namespace

Launch CopyBody::launch() const noexcept {
  Launch launch;
  launch.count = static_cast<std::int64_t>((bytes + block - 1) / block);
  return launch;
}

Launch FillBody::launch() const noexcept {
  Launch launch;
  launch.count = static_cast<std::int64_t>(count);
  return launch;
}

const KernelInfo copy_kernel{.type = "copy",
                             .size = sizeof(CopyBody),
                             .align = alignof(CopyBody),
                             .host = &run_copy,
                             .cost = {.samples = Cost::never}};
const KernelInfo write_kernel{.type = "write",
                              .size = sizeof(CopyBody),
                              .align = alignof(CopyBody),
                              .copy = &copy_write,
                              .destroy = &destroy_write,
                              .host = &run_copy,
                              .cost = {.samples = Cost::never}};
const KernelInfo fill_kernel{.type = "fill",
                             .size = sizeof(FillBody),
                             .align = alignof(FillBody),
                             .copy = &copy_fill,
                             .destroy = &destroy_fill,
                             .host = &run_fill,
                             .cost = {.samples = Cost::never}};

}  // namespace gantry::host
