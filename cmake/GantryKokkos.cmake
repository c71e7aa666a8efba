# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
set(GANTRY_KOKKOS_ROOT "" CACHE PATH "An unpacked Kokkos with its C library")
set(root ${GANTRY_KOKKOS_ROOT}/usr)
set(lib ${root}/lib/${CMAKE_LIBRARY_ARCHITECTURE})
find_package(OpenMP REQUIRED COMPONENTS CXX)
add_library(Kokkos::kokkos INTERFACE IMPORTED GLOBAL)
set_target_properties(Kokkos::kokkos PROPERTIES
  INTERFACE_INCLUDE_DIRECTORIES ${root}/include/kokkos
  INTERFACE_SYSTEM_INCLUDE_DIRECTORIES ${root}/include/kokkos
  INTERFACE_COMPILE_FEATURES cxx_std_20
  INTERFACE_COMPILE_OPTIONS -fopenmp
  INTERFACE_LINK_LIBRARIES "${lib}/libkokkoscontainers.so;${lib}/libkokkoscore.so"
  INTERFACE_LINK_OPTIONS "-fopenmp;LINKER:--disable-new-dtags,-rpath,${lib};LINKER:-dynamic-linker,${root}/lib64/ld-linux-x86-64.so.2;LINKER:--allow-shlib-undefined")
