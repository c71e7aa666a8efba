# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# How Gantry's targets are made.

# gantry_test(<name> SOURCES <file>... [LIBRARIES <target>...] [LABELS <label>...] [NO_PROTECT])
# A GoogleTest program. Each of its cases is a ctest, and once more, as protect.<case>, with GANTRY_PROTECT=1, unless
# NO_PROTECT says that it makes no difference.
function(gantry_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "NO_PROTECT" "" "SOURCES;LIBRARIES;LABELS")
  if(NOT arg_SOURCES)
    return()
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE gantry_flags ${arg_LIBRARIES} GTest::gmock)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src)
  include(GoogleTest)
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST PROPERTIES LABELS "${arg_LABELS}" TIMEOUT 300)
  if(arg_NO_PROTECT)
    return()
  endif()
  gtest_discover_tests(
    ${name}
    DISCOVERY_MODE PRE_TEST
    TEST_PREFIX protect.
    PROPERTIES LABELS protect TIMEOUT 300 ENVIRONMENT GANTRY_PROTECT=1
  )
endfunction()
