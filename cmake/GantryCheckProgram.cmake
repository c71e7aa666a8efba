# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# gantry_check_program(<target>)
#
# Fails the build of a program (or shared library) when something that was linked into it uses Kokkos but was not
# compiled with Gantry's targets, or for another configuration than the rest: such a program would read Views in the
# wrong layout. Most mixtures fail to link; objects that were compiled against stock Kokkos do not, and neither do
# configurations that differ between shared libraries. What was linked is read from the linker's map, so objects inside
# archives are seen too.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  function(gantry_check_program target)
    # Where the linker runs: relative names in its map start there.
    set(folder ${CMAKE_BINARY_DIR})
    if(CMAKE_GENERATOR MATCHES "Makefiles")
      set(folder $<TARGET_PROPERTY:${target},BINARY_DIR>)
    endif()
    target_link_options(${target} PRIVATE LINKER:-Map=$<TARGET_FILE:${target}>.map)
    add_custom_command(
      TARGET ${target}
      POST_BUILD
      COMMAND ${CMAKE_COMMAND} -D NM=${CMAKE_NM} -D MAP=$<TARGET_FILE:${target}>.map -D BASE=${folder} -P
              ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
      COMMENT "Checking that ${target} has one Kokkos configuration"
      VERBATIM
    )
  endfunction()
  return()
endif()

cmake_minimum_required(VERSION 3.25)

# GNU ld lists its inputs as LOAD <file>, lld as <file>:(<section>) in the last column.
file(STRINGS ${MAP} lines REGEX "^LOAD .+|\\.[ao](\\([^)]*\\))?:\\(|\\.so[.0-9]*:\\(")
list(TRANSFORM lines REPLACE "^LOAD +" "")
list(TRANSFORM lines REPLACE "^[ 0-9a-f]* ([^ ]+\\.(o|a|so[.0-9]*))(\\([^)]*\\))?:\\(.*$" "\\1")
list(REMOVE_DUPLICATES lines)
set(first_marker "")
set(scanned 0)
foreach(file IN LISTS lines)
  cmake_path(IS_RELATIVE file is_relative)
  cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${BASE})
  cmake_path(GET file FILENAME name)
  # An absolute one may be a temporary file of the compiler's, gone by now.
  if(is_relative AND name MATCHES "\\.[oa]$" AND NOT EXISTS ${file})
    message(FATAL_ERROR "gantry_check_program cannot find ${file}, which ${MAP} says was linked")
  endif()
  if(NOT EXISTS ${file} OR name MATCHES "^lib(gantry|gantry_kokkos|kokkos(core|containers|algorithms|simd))\\.")
    continue()
  endif()
  math(EXPR scanned "${scanned} + 1")
  set(table "")
  if(name MATCHES "\\.so")
    set(table -D)
  endif()
  execute_process(COMMAND ${NM} -A ${table} ${file} OUTPUT_VARIABLE symbols ERROR_QUIET)
  # Kokkos's namespace as it is mangled: N6Kokkos..., NK6Kokkos... One line is one symbol of one object or member.
  string(REGEX MATCHALL "[^\n]*N[rVKRO]*6Kokkos[^\n]*" uses "${symbols}")
  string(REGEX MATCHALL "[^\n]*gantry_configuration_[^\n]*" marks "${symbols}")
  list(TRANSFORM uses REPLACE ":[ 0-9a-fA-F]+[A-Za-z] .*$" "")
  list(REMOVE_DUPLICATES uses)
  set(marked "")
  foreach(mark IN LISTS marks)
    string(REGEX MATCH "^(.*):[ 0-9a-fA-F]+[A-Za-z] (gantry_configuration_[a-z0-9_]+)$" unused "${mark}")
    list(APPEND marked ${CMAKE_MATCH_1})
    set(marker ${CMAKE_MATCH_2})
    if(NOT first_marker)
      set(first_marker ${marker})
      set(first_object ${CMAKE_MATCH_1})
    elseif(NOT marker STREQUAL first_marker)
      message(FATAL_ERROR "Two configurations in one program:\n  ${first_marker}\n    in ${first_object}\n"
                          "  ${marker}\n    in ${CMAKE_MATCH_1}\nLink all of its targets with Gantry::kokkos, or all "
                          "with Gantry::kokkos_default, and define GANTRY_LAYOUT_* for all or none.")
    endif()
  endforeach()
  foreach(object IN LISTS uses)
    if(NOT object IN_LIST marked)
      message(FATAL_ERROR "${object}\nuses Kokkos but was not compiled with Gantry: its Views and default execution space "
                          "are others than the rest of the program's. Link its target with Gantry::kokkos or "
                          "Gantry::kokkos_default.")
    endif()
  endforeach()
endforeach()
if(scanned EQUAL 0)
  message(FATAL_ERROR "gantry_check_program cannot read the map of this linker (${MAP}): use GNU ld or lld")
endif()
