# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# find_package(Gantry [COMPONENTS core kokkos]): Gantry::core, Gantry::kokkos, Gantry::kokkos_default. An unpacked Kokkos
# (GantryKokkos.cmake) is installed along, so that a user's project needs nothing but CMAKE_PREFIX_PATH.
include(CMakePackageConfigHelpers)
set(gantry_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Gantry)

install(TARGETS gantry_core EXPORT GantryCoreTargets FILE_SET HEADERS)
install(EXPORT GantryCoreTargets NAMESPACE Gantry:: DESTINATION ${gantry_package_dir})

set(gantry_tree_dir "")
if(GANTRY_KOKKOS)
  install(TARGETS gantry_kokkos gantry_kokkos_default EXPORT GantryKokkosTargets FILE_SET HEADERS)
  install(EXPORT GantryKokkosTargets NAMESPACE Gantry:: DESTINATION ${gantry_package_dir})
  install(DIRECTORY src/gantry/kokkos/overlay DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/gantry/kokkos)
  install(FILES cmake/GantryKokkos.cmake cmake/GantryCheckProgram.cmake DESTINATION ${gantry_package_dir})
  if(GANTRY_KOKKOS_TREE)
    set(gantry_tree_dir ${CMAKE_INSTALL_LIBDIR}/gantry/kokkos)
    install(DIRECTORY ${GANTRY_KOKKOS_TREE}/ DESTINATION ${gantry_tree_dir} USE_SOURCE_PERMISSIONS)
  endif()
endif()

configure_package_config_file(
  cmake/GantryConfig.cmake.in GantryConfig.cmake INSTALL_DESTINATION ${gantry_package_dir} NO_SET_AND_CHECK_MACRO
)
write_basic_package_version_file(GantryConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/GantryConfig.cmake ${PROJECT_BINARY_DIR}/GantryConfigVersion.cmake
        DESTINATION ${gantry_package_dir}
)
