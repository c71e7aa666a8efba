// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gantry/kokkos/process_resources.hpp>

#if defined(_OPENMP)
#include <omp.h>
#endif

#include <utility>
#include <vector>

namespace gantry::impl {

ProcessResources process_resources() {
  ProcessResources resources;
#if defined(_OPENMP)
  std::vector<int> cpus;
  for (int place = 0; place < omp_get_num_places(); ++place) {
    std::vector<int> here(static_cast<std::size_t>(omp_get_place_num_procs(place)));
    omp_get_place_proc_ids(place, here.data());
    cpus.insert(cpus.end(), here.begin(), here.end());
  }
  if (!cpus.empty()) {
    resources.cpus = CpuSet(std::move(cpus));
    resources.reason = "the OpenMP places";
    return resources;
  }
#endif
  resources.cpus = CpuSet::of_calling_thread();
  resources.reason = "the process's mask";
  return resources;
}

}  // namespace gantry::impl
