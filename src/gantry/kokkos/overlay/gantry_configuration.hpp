// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// One program, one configuration. Objects that were compiled for different compilers' dialects, default execution
/// spaces, View layouts or Kokkos versions define the same templates differently, and the linker would silently take
/// either. So every object that sees Kokkos through Gantry carries a marker symbol that names its configuration:
///
///   gantry_configuration_<dialect>_<default|secondary>_<left|right>_kokkos_<version>
///
/// It stands in a COMDAT group of its own name, together with a strong symbol that is the same in every configuration:
/// equal markers merge, different ones make the link fail with "multiple definition of
/// gantry_one_program_one_configuration", naming both sections. The marker also refers to a symbol that only a
/// libgantry_kokkos.so built for the same Kokkos defines. Objects without a marker are found by gantry_check_program.
#ifndef GANTRY_CONFIGURATION_HPP
#define GANTRY_CONFIGURATION_HPP

#if defined(GANTRY_KOKKOS_VERSION) && GANTRY_KOKKOS_VERSION != KOKKOS_VERSION
#error "This Gantry was built for another version of Kokkos: build it again, or put its own Kokkos first."
#endif

#if defined(GANTRY_LAYOUT_LEFT) && defined(GANTRY_LAYOUT_RIGHT)
#error "GANTRY_LAYOUT_LEFT and GANTRY_LAYOUT_RIGHT are both defined"
#endif

#if defined(GANTRY_SIMULATED_DEVICE)
#define GANTRY_IMPL_DIALECT "simulated"
#elif defined(__HIP__)
#define GANTRY_IMPL_DIALECT "hip"
#elif defined(__NVCC__)
#define GANTRY_IMPL_DIALECT "nvcc"
#elif defined(__CUDA__)
#define GANTRY_IMPL_DIALECT "clang_cuda"
#else
#define GANTRY_IMPL_DIALECT "host"
#endif

// On a CPU, rows that are contiguous; on a GPU, neighbouring threads in neighbouring rows.
#if !defined(GANTRY_LAYOUT_LEFT) && !defined(GANTRY_LAYOUT_RIGHT)
#if defined(__HIP__) || defined(__NVCC__) || defined(__CUDA__) || defined(GANTRY_SIMULATED_DEVICE)
#define GANTRY_LAYOUT_LEFT
#else
#define GANTRY_LAYOUT_RIGHT
#endif
#endif
#if defined(GANTRY_LAYOUT_LEFT)
#define GANTRY_IMPL_LAYOUT "left"
#else
#define GANTRY_IMPL_LAYOUT "right"
#endif

#if defined(GANTRY_DEFAULT_EXECUTION_SPACE)
#define GANTRY_IMPL_ROLE "default"
#else
#define GANTRY_IMPL_ROLE "secondary"
#endif

#define GANTRY_IMPL_TEXT_2(x) #x
#define GANTRY_IMPL_TEXT(x) GANTRY_IMPL_TEXT_2(x)
#define GANTRY_IMPL_LIBRARY "gantry_library_for_kokkos_" GANTRY_IMPL_TEXT(KOKKOS_VERSION)
#define GANTRY_IMPL_MARKER                                                                \
  "gantry_configuration_" GANTRY_IMPL_DIALECT "_" GANTRY_IMPL_ROLE "_" GANTRY_IMPL_LAYOUT \
  "_kokkos_" GANTRY_IMPL_TEXT(KOKKOS_VERSION)

// libgantry_kokkos.so is the same for all configurations and carries no marker; the device passes emit no host object.
#if !defined(GANTRY_BUILDING_KOKKOS_LIBRARY) && !defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__)
// clang-format off
__asm__(
    ".pushsection .data.rel.ro." GANTRY_IMPL_MARKER ",\"awG\",@progbits," GANTRY_IMPL_MARKER ",comdat\n"
    ".weak " GANTRY_IMPL_MARKER "\n"
    ".type " GANTRY_IMPL_MARKER ", @object\n"
    ".size " GANTRY_IMPL_MARKER ", 8\n"
    ".globl gantry_one_program_one_configuration\n"
    ".type gantry_one_program_one_configuration, @object\n"
    ".size gantry_one_program_one_configuration, 8\n"
    ".balign 8\n"
    GANTRY_IMPL_MARKER ":\n"
    "gantry_one_program_one_configuration:\n"
    ".quad " GANTRY_IMPL_LIBRARY "\n"
    ".popsection\n");
// clang-format on
#endif

#endif
