// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every include here is one that the layering check must refuse.
#include <Kokkos_Core.hpp>
#include <backends/host/queue.hpp>
#include <cuda.h>
#include "status.hpp"
#include <gantry/kokkos/Offload.hpp>  // indented
