// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Marks what kernels call as well as the host.
#if defined(__CUDACC__) || defined(__HIPCC__)
#define GANTRY_DEVICE_FUNCTION __host__ __device__
#else
#define GANTRY_DEVICE_FUNCTION
#endif
