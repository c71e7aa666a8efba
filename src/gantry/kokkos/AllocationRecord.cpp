// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/core/gantry.hpp>
#include <gantry/kokkos/AllocationRecord.hpp>

#include <mutex>
#include <ostream>
#include <unordered_map>

namespace gantry::impl {

namespace {

struct Records {
  std::mutex mutex;
  std::unordered_map<const void*, KokkosRecord*> by_address;  // guarded by mutex
};

// Never destroyed: kokkos_free may be called while statics are.
Records& records() {
  static Records& instance = *new Records;
  return instance;
}

KokkosRecord* lookup(const void* memory, const char* space_name, bool forget) {
  Records& all = records();
  {
    const std::lock_guard lock(all.mutex);
    if (const auto found = all.by_address.find(memory); found != all.by_address.end()) {
      KokkosRecord* record = found->second;
      if (forget) all.by_address.erase(found);
      return record;
    }
  }
  throw Error(
      Status::error(Code::invalid_argument,
                    std::string(space_name) +
                        ": the address was not returned by kokkos_malloc or kokkos_realloc of this space, or was "
                        "freed since"));
}

}  // namespace

void remember_record(void* memory, KokkosRecord* record) {
  const std::lock_guard lock(records().mutex);
  records().by_address[memory] = record;
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
