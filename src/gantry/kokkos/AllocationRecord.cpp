// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/core/gantry.hpp>
#include <gantry/kokkos/AllocationRecord.hpp>

#include <fmt/format.h>

#include <mutex>
#include <ostream>
#include <string>
#include <string_view>
#include <unordered_map>

namespace gantry::impl {

namespace {

struct Tracked {
  KokkosRecord* record;
  const char* space_name;
};

struct Records {
  std::mutex mutex;
  std::unordered_map<const void*, Tracked> by_address;  // guarded by mutex
};

// Never destroyed: kokkos_free may be called while statics are.
Records& records() {
  static Records& instance = *new Records;
  return instance;
}

[[noreturn]] void throw_unknown(const void* memory, const char* space_name, const char* of_space) {
  const std::string what =
      of_space != nullptr ? fmt::format("is memory of {}", of_space)
                          : "was not returned by kokkos_malloc or kokkos_realloc of this space, or was freed since";
  throw Error(Status::error(Code::invalid_argument, fmt::format("{}: the address {} {}", space_name, memory, what)));
}

KokkosRecord* lookup(const void* memory, const char* space_name, bool forget) {
  Records& all = records();
  const char* of_space = nullptr;
  {
    const std::lock_guard lock(all.mutex);
    if (const auto found = all.by_address.find(memory); found != all.by_address.end()) {
      const Tracked tracked = found->second;
      if (std::string_view(tracked.space_name) == space_name) {
        if (forget) all.by_address.erase(found);
        return tracked.record;
      }
      of_space = tracked.space_name;
    }
  }
  throw_unknown(memory, space_name, of_space);
}

}  // namespace

void remember_record(void* memory, KokkosRecord* record, const char* space_name) {
  const std::lock_guard lock(records().mutex);
  records().by_address[memory] = {record, space_name};
}

KokkosRecord* find_record(const void* memory, const char* space_name) {
  return lookup(memory, space_name, false);
}
KokkosRecord* forget_record(const void* memory, const char* space_name) {
  return lookup(memory, space_name, true);
}

void print_live_memory(std::ostream& out, MemoryKind kind) {
  LeakReport report = leak_report();
  const ObjectKind wanted = kind == MemoryKind::device ? ObjectKind::device_memory : ObjectKind::pinned_memory;
  std::erase_if(report.objects, [wanted](const LiveObject& object) { return object.kind != wanted; });
  out << report.to_text();
}

#ifdef KOKKOS_ENABLE_DEBUG
KokkosRecord* record_list(MemoryKind kind) {
  static KokkosRecord* const lists[2] = {new KokkosRecord, new KokkosRecord};
  return lists[kind == MemoryKind::device ? 0 : 1];
}
#endif

}  // namespace gantry::impl
