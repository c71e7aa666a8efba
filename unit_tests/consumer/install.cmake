# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Installs BUILD to STAGE and moves it to PREFIX. Nothing in it may name a folder of the FORBIDDEN list (debug
# information, which only debuggers read, aside).
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${STAGE} ${PREFIX})
execute_process(
  COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${STAGE} --strip OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY
)
file(RENAME ${STAGE} ${PREFIX})
foreach(folder IN LISTS FORBIDDEN STAGE)
  execute_process(COMMAND grep -rlF ${folder}/ ${PREFIX} OUTPUT_VARIABLE files)
  if(files)
    message(SEND_ERROR "The installed package still needs ${folder}:\n${files}")
  endif()
endforeach()
