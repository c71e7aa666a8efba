// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// All that a program includes to use Kokkos with Gantry; its order is the table of contents of the Kokkos layer.
///
/// No #pragma once, on purpose: Kokkos_Core.hpp, where the overlay has a say, includes this file in its middle, and
/// only then the list below is reached with View and the parallel patterns still to come.
#include <Kokkos_Core.hpp>

#include <gantry/core/gantry.hpp>

#include <gantry/kokkos/Offload.hpp>
#include <gantry/kokkos/OffloadSpace.hpp>
#include <gantry/kokkos/OffloadPinnedSpace.hpp>
#include <gantry/kokkos/ElementRecord.hpp>
#include <gantry/kokkos/DeepCopy.hpp>
#include <gantry/kokkos/Fill.hpp>
#include <gantry/kokkos/Partition.hpp>
#include <gantry/kokkos/ViewAccess.hpp>
#include <gantry/kokkos/ParallelFor_Range.hpp>
#include <gantry/kokkos/ParallelReduce_Range.hpp>
#include <gantry/kokkos/ParallelScan_Range.hpp>
#include <gantry/kokkos/ParallelFor_MDRange.hpp>
#include <gantry/kokkos/ParallelReduce_MDRange.hpp>
#include <gantry/kokkos/UniqueToken.hpp>
#include <gantry/kokkos/Random.hpp>
#include <gantry/kokkos/Simd.hpp>
