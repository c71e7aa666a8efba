# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Kokkos, unmodified: the one that find_package finds (Kokkos_ROOT, CMAKE_PREFIX_PATH), otherwise Debian's own package.
#
# Debian has Kokkos 5 in its unstable suite only. On an older Debian it is fetched with `apt-get download` and unpacked,
# not installed: APT runs on a sources list, lists, cache and package status of its own, with the mirror and the keyring
# that the machine's APT is configured with, and nothing on the system changes. That Kokkos needs a newer C library than
# Debian 12 has, so Debian 13's is unpacked beside it, and programs that link Kokkos::kokkos run with the unpacked
# dynamic linker and libraries. The tree is kept in $XDG_CACHE_HOME/gantry (~/.cache/gantry) and shared by all build
# trees; it appears there by one rename after it was checked. The CMake files in the package point at /usr and are not
# used: gantry_import_kokkos_tree makes the targets, here and in the installed Gantry package.

# Imports Kokkos::kokkos from an unpacked tree.
function(gantry_import_kokkos_tree tree)
  file(GLOB core ${tree}/usr/lib/*/libkokkoscore.so)
  file(GLOB linker ${tree}/usr/lib64/ld-linux*.so.* ${tree}/usr/lib/ld-linux*.so.*)
  if(NOT core OR NOT EXISTS ${tree}/usr/include/kokkos/Kokkos_Core.hpp)
    message(FATAL_ERROR "There is no unpacked Kokkos in ${tree}")
  endif()
  cmake_path(GET core PARENT_PATH lib)
  set(run_flags LINKER:-rpath,${lib})
  if(linker)
    list(GET linker 0 linker)
    list(APPEND run_flags LINKER:-dynamic-linker,${linker} LINKER:--allow-shlib-undefined)
  endif()

  find_package(OpenMP REQUIRED COMPONENTS CXX)
  add_library(Kokkos::kokkos INTERFACE IMPORTED GLOBAL)
  target_compile_features(Kokkos::kokkos INTERFACE cxx_std_20)
  target_include_directories(Kokkos::kokkos SYSTEM INTERFACE ${tree}/usr/include/kokkos)
  target_link_libraries(Kokkos::kokkos INTERFACE -L${lib} -lkokkoscontainers -lkokkoscore OpenMP::OpenMP_CXX)
  # DT_RPATH in programs and libraries: it also finds what libraries need that were found through it.
  target_link_options(Kokkos::kokkos INTERFACE LINKER:--disable-new-dtags)
  foreach(flag IN LISTS run_flags)
    target_link_options(Kokkos::kokkos INTERFACE $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:${flag}>)
  endforeach()
endfunction()

# Sets GANTRY_KOKKOS_VERSION (50202) and GANTRY_KOKKOS_CONFIGURATION (a hash of its options) in the caller.
function(gantry_identify_kokkos)
  get_target_property(folders Kokkos::kokkos INTERFACE_INCLUDE_DIRECTORIES)
  if(NOT folders)
    get_target_property(folders Kokkos::kokkoscore INTERFACE_INCLUDE_DIRECTORIES)
  endif()
  list(TRANSFORM folders REPLACE "^\\$<BUILD_INTERFACE:(.*)>$" "\\1")
  unset(config)
  find_file(config KokkosCore_config.h PATHS ${folders} NO_DEFAULT_PATH NO_CACHE REQUIRED)
  file(STRINGS ${config} version REGEX "^#define KOKKOS_VERSION [0-9]+")
  string(REGEX MATCH "[0-9]+" version "${version}")
  file(SHA256 ${config} hash)
  set(GANTRY_KOKKOS_VERSION ${version} PARENT_SCOPE)
  set(GANTRY_KOKKOS_CONFIGURATION ${hash} PARENT_SCOPE)
endfunction()

set(gantry_kokkos_help
    "Install Kokkos 5.2 built for the host (cmake -DKokkos_ENABLE_OPENMP=ON -DBUILD_SHARED_LIBS=ON ...) and configure \
with -DKokkos_ROOT=<its prefix>, or build Gantry without its Kokkos space: -DGANTRY_KOKKOS=OFF."
)

# Runs a command, its output in the log; ends the configuration with `failure` and the end of the log when it fails.
function(gantry_fetch_step work failure)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${work} RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
  file(APPEND ${work}/log.txt "$ ${ARGN}\n${text}\n")
  if(NOT result EQUAL 0)
    string(LENGTH "${text}" length)
    math(EXPR start "${length} > 2000 ? ${length} - 2000 : 0")
    string(SUBSTRING "${text}" ${start} -1 text)
    message(FATAL_ERROR "${failure}\n${gantry_kokkos_help}\nLog: ${work}/log.txt\n${text}")
  endif()
endfunction()

# Sets `tree` to a folder with Debian's Kokkos, fetched now or before.
function(gantry_fetch_kokkos tree)
  find_program(apt_get apt-get NO_CACHE)
  find_program(dpkg_deb dpkg-deb NO_CACHE)
  file(STRINGS /etc/os-release os REGEX "^(ID|VERSION_ID|VERSION_CODENAME)=")
  string(REGEX MATCH "(^|;)ID=\"?debian" is_debian "${os}")
  if(NOT apt_get OR NOT dpkg_deb OR NOT is_debian)
    message(FATAL_ERROR "Kokkos 5 was not found, and only on Debian can it be fetched. ${gantry_kokkos_help}")
  endif()

  set(folder $ENV{XDG_CACHE_HOME})
  if(NOT folder AND DEFINED ENV{HOME})
    set(folder $ENV{HOME}/.cache)
  endif()
  string(APPEND folder /gantry)
  execute_process(COMMAND ${CMAKE_COMMAND} -E make_directory ${folder} RESULT_VARIABLE unwritable OUTPUT_QUIET ERROR_QUIET)
  if(unwritable)
    set(folder ${CMAKE_BINARY_DIR}/cache)
  endif()
  set(name kokkos5-${CMAKE_SYSTEM_PROCESSOR})
  set(${tree} ${folder}/${name} PARENT_SCOPE)
  file(LOCK ${folder}/${name}.lock GUARD FUNCTION TIMEOUT 900 RESULT_VARIABLE lock)
  if(lock)
    message(FATAL_ERROR "Another build has been fetching Kokkos into ${folder} for 15 minutes (${lock}). Try again.")
  endif()
  if(EXISTS ${folder}/${name})
    return()
  endif()

  # The machine's own mirror and keyring. APT reads both of its formats itself and names the entry each index is from.
  execute_process(
    COMMAND ${apt_get} indextargets --no-release-info --format "$(REPO_URI) $(RELEASE) $(COMPONENT) $(SOURCESENTRY)"
            "Created-By: Packages"
    OUTPUT_VARIABLE indexes
    ERROR_QUIET
  )
  string(REGEX MATCH "VERSION_CODENAME=\"?([a-z]+)" unused "${os}")
  string(REGEX MATCH "([^ \n]+) (${CMAKE_MATCH_1}|oldstable|stable|testing|unstable|sid) main ([^\n]+):[0-9]+(\n|$)" unused
               "${indexes}")
  set(mirror ${CMAKE_MATCH_1})
  set(entry ${CMAKE_MATCH_3})
  if(NOT mirror)
    message(FATAL_ERROR "Kokkos 5 was not found, and APT is configured with no Debian mirror to fetch it from. "
                        "${gantry_kokkos_help}")
  endif()
  set(keyring "")
  if(EXISTS "${entry}")
    file(STRINGS ${entry} lines)
    foreach(line IN LISTS lines)
      if(line MATCHES "[Ss]igned-[Bb]y[:=] *(/[^] ]+)")
        set(keyring "[signed-by=${CMAKE_MATCH_1}]")
        break()
      endif()
    endforeach()
  endif()

  # Debian 13 and later have a C library that is new enough.
  set(runtime "")
  if(os MATCHES "VERSION_ID=\"?([0-9]+)" AND CMAKE_MATCH_1 LESS 13)
    set(runtime libc6/trixie libstdc++6/trixie libgcc-s1/trixie libgomp1/trixie)
  endif()

  # A folder of its own name: what an interrupted fetch left, perhaps with APT still at work in it, is not reused.
  file(GLOB leftovers ${folder}/${name}.part-*)
  if(leftovers)
    file(REMOVE_RECURSE ${leftovers})
  endif()
  string(RANDOM suffix)
  set(work ${folder}/${name}.part-${suffix})
  file(MAKE_DIRECTORY ${work}/lists/partial ${work}/cache/archives/partial ${work}/debs ${work}/tree)
  file(WRITE ${work}/sources.list "deb ${keyring} ${mirror} unstable main\ndeb ${keyring} ${mirror} trixie main\n")
  set(apt_options
      -o Dir::Etc::sourcelist=${work}/sources.list
      -o Dir::Etc::sourceparts=/dev/null
      -o Dir::Etc::preferencesparts=/dev/null
      -o Dir::Etc::preferences=/dev/null
      -o Dir::State::lists=${work}/lists
      -o Dir::State::status=/dev/null
      -o Dir::Cache=${work}/cache
      -o Acquire::Languages=none
      -o Acquire::Check-Valid-Until=false # the mirror may be a snapshot; signatures are checked all the same
      -o Acquire::Retries=3
      -o APT::Sandbox::User=root
      -o APT::Update::Error-Mode=any
  )

  message(STATUS "Kokkos 5 was not found; fetching Debian's (once, about 25 MB): reading the package lists")
  gantry_fetch_step(${work} "Kokkos 5 was not found, and Debian's package lists cannot be read." ${apt_get} ${apt_options}
                    update)
  execute_process(
    COMMAND apt-cache ${apt_options} depends libkokkos-dev
    OUTPUT_VARIABLE depends
    ERROR_QUIET
  )
  string(REGEX MATCH "libkokkos5[.0-9]*" library "${depends}")
  if(NOT library)
    message(FATAL_ERROR "Kokkos 5 was not found, and Debian's unstable suite has no Kokkos 5 (libkokkos-dev) any more. "
                        "${gantry_kokkos_help}")
  endif()
  list(JOIN runtime " " shown)
  message(STATUS "Fetching libkokkos-dev ${library} ${shown}")
  gantry_fetch_step(${work}/debs "The download of Kokkos failed." ${apt_get} ${apt_options} download
                    libkokkos-dev/unstable ${library}/unstable ${runtime})
  file(GLOB packages ${work}/debs/*.deb)
  foreach(package IN LISTS packages)
    gantry_fetch_step(${work} "A package of Kokkos cannot be unpacked." ${dpkg_deb} -x ${package} ${work}/tree)
  endforeach()

  # Does the library load, every symbol resolved? The dynamic linker of the tree says so.
  file(GLOB linker ${work}/tree/usr/lib64/ld-linux*.so.* ${work}/tree/usr/lib/ld-linux*.so.*)
  file(GLOB core ${work}/tree/usr/lib/*/libkokkoscore.so)
  if(linker AND core)
    list(GET linker 0 linker)
    cmake_path(GET core PARENT_PATH lib)
    execute_process(
      COMMAND ${CMAKE_COMMAND} -E env LD_TRACE_LOADED_OBJECTS=1 LD_WARN=1 LD_BIND_NOW=1 ${linker} --library-path ${lib} ${core}
      RESULT_VARIABLE result
      OUTPUT_VARIABLE text
      ERROR_VARIABLE text
    )
    if(NOT result EQUAL 0 OR text MATCHES "not found|undefined symbol|not defined")
      message(FATAL_ERROR "Debian's Kokkos does not load with Debian 13's C library any more. ${gantry_kokkos_help}\n${text}")
    endif()
  endif()
  file(RENAME ${work}/tree ${folder}/${name})
  file(REMOVE_RECURSE ${work})
  message(STATUS "Kokkos is in ${folder}/${name}")
endfunction()

# Called by Gantry's own build; the installed package uses the functions above.
macro(gantry_find_kokkos)
  set(GANTRY_KOKKOS_TREE "" CACHE PATH "An unpacked Kokkos; empty: a Kokkos that find_package finds, or Debian's")
  if(NOT GANTRY_KOKKOS_TREE)
    find_package(Kokkos 5 CONFIG QUIET)
    if(NOT Kokkos_FOUND)
      gantry_fetch_kokkos(GANTRY_KOKKOS_TREE)
    elseif(Kokkos_DEVICES MATCHES "CUDA|HIP|SYCL|OPENACC")
      message(FATAL_ERROR "The Kokkos in ${Kokkos_DIR} is built for ${Kokkos_DEVICES}: Gantry reaches devices itself and "
                          "needs one for the host only. ${gantry_kokkos_help}")
    endif()
  endif()
  if(GANTRY_KOKKOS_TREE)
    gantry_import_kokkos_tree(${GANTRY_KOKKOS_TREE})
  endif()
  gantry_identify_kokkos()
  set(gantry_kokkos_place ${GANTRY_KOKKOS_TREE})
  if(NOT GANTRY_KOKKOS_TREE)
    set(gantry_kokkos_place ${Kokkos_DIR})
  endif()
  message(STATUS "Kokkos ${GANTRY_KOKKOS_VERSION} in ${gantry_kokkos_place}")
endmacro()
