// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace perf {

struct FreeDelete {
  void operator()(void* memory) const { std::free(memory); }
};
template <class T>
using HugeArray = std::unique_ptr<T[], FreeDelete>;

/// n elements on huge pages where the kernel grants them, all set to `value`.
template <class T>
HugeArray<T> make_huge_array(std::int64_t n, T value) {
  constexpr std::size_t huge_page = std::size_t{2} << 20;
  const std::size_t bytes = (static_cast<std::size_t>(n) * sizeof(T) + huge_page - 1) / huge_page * huge_page;
  void* memory = std::aligned_alloc(huge_page, bytes);
  if (memory == nullptr) std::abort();
  madvise(memory, bytes, MADV_HUGEPAGE);
  HugeArray<T> array(static_cast<T*>(memory));
  for (std::int64_t i = 0; i < n; ++i) array[static_cast<std::size_t>(i)] = value;
  return array;
}

}  // namespace perf
