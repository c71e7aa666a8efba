# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What Gantry's own libraries and programs are built with; users of Gantry need none of it at compile time.

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
if(GANTRY_BUILD_TESTS)
  find_package(GTest REQUIRED)
  find_package(Boost 1.74 REQUIRED COMPONENTS context)
endif()
if(GANTRY_BUILD_PERF_TESTS)
  find_package(benchmark REQUIRED)
endif()
