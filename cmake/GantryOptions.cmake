# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Every option of the build, and the flags that all of Gantry's own targets share.

option(GANTRY_KOKKOS "Build the Kokkos execution space; OFF builds libgantry.so and gantry-info only" ON)
option(GANTRY_BUILD_TESTS "Build unit_tests/" ${PROJECT_IS_TOP_LEVEL})
option(GANTRY_BUILD_PERF_TESTS "Build perf_tests/" OFF)
option(GANTRY_BUILD_EXAMPLES "Build docs/examples/" ${PROJECT_IS_TOP_LEVEL})
option(GANTRY_WERROR "Warnings are errors" OFF)
option(GANTRY_TIDY "Run clang-tidy on every file that is compiled" OFF)
set(GANTRY_SANITIZE "" CACHE STRING "Empty, address (with leak and undefined) or thread")
set_property(CACHE GANTRY_SANITIZE PROPERTY STRINGS "" address thread)

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()

if(GANTRY_TIDY)
  set(CMAKE_CXX_CLANG_TIDY clang-tidy --quiet)
endif()

# Linked PRIVATE by each of Gantry's own targets, never exported.
add_library(gantry_flags INTERFACE)
target_compile_features(gantry_flags INTERFACE cxx_std_20)
target_compile_options(
  gantry_flags
  INTERFACE
    -Wall
    -Wextra
    -Wnon-virtual-dtor
    -Woverloaded-virtual
    -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=
    $<$<BOOL:${GANTRY_WERROR}>:-Werror>
)
if(GANTRY_SANITIZE STREQUAL "address")
  set(gantry_sanitizer_flags -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
elseif(GANTRY_SANITIZE STREQUAL "thread")
  # It knows no stand-alone fences, of which Kokkos has some; g++ warns of each.
  set(gantry_sanitizer_flags -fsanitize=thread -fno-omit-frame-pointer $<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
elseif(GANTRY_SANITIZE)
  message(FATAL_ERROR "GANTRY_SANITIZE is '${GANTRY_SANITIZE}'; it can be empty, 'address' or 'thread'")
endif()
target_compile_options(gantry_flags INTERFACE ${gantry_sanitizer_flags})
target_link_options(gantry_flags INTERFACE ${gantry_sanitizer_flags})
