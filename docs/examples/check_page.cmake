# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# cmake -D PAGE=<page.md> -D SOURCE=<file> -P check_page.cmake: fails unless the page shows the whole file as a C++ snippet.
cmake_minimum_required(VERSION 3.25)
file(READ ${PAGE} page)
file(READ ${SOURCE} source)
string(FIND "${page}" "```cpp\n${source}```\n" at)
if(at EQUAL -1)
  message(FATAL_ERROR "${PAGE} does not show ${SOURCE} as it is: copy the file into the page")
endif()
