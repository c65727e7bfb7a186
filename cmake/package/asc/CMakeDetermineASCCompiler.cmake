# SPDX-License-Identifier: Apache-2.0
get_filename_component(_asc_toolkit "${CMAKE_CURRENT_LIST_DIR}/../../../.." ABSOLUTE)
set(CMAKE_ASC_COMPILER "${_asc_toolkit}/bin/ascc" CACHE FILEPATH "Compiler of .asc files")
mark_as_advanced(CMAKE_ASC_COMPILER)
if(NOT EXISTS "${CMAKE_ASC_COMPILER}")
  message(FATAL_ERROR "CMAKE_ASC_COMPILER: ${CMAKE_ASC_COMPILER} is missing. Next: aclgrad doctor, and an empty build folder")
endif()

# It has the host's C++ compiler do the work; CXX may not be enabled yet.
if(CMAKE_CXX_COMPILER)
  set(CMAKE_ASC_HOST_COMPILER "${CMAKE_CXX_COMPILER}")
elseif(NOT CMAKE_ASC_HOST_COMPILER)
  separate_arguments(_asc_names UNIX_COMMAND "$ENV{CXX}")
  list(POP_FRONT _asc_names _asc_name)
  find_program(CMAKE_ASC_HOST_COMPILER NAMES ${_asc_name} c++ g++ clang++ REQUIRED)
  mark_as_advanced(CMAKE_ASC_HOST_COMPILER)
endif()

set(CMAKE_ASC_COMPILER_ENV_VAR ASC)
configure_file(${CMAKE_CURRENT_LIST_DIR}/CMakeASCCompiler.cmake.in ${CMAKE_PLATFORM_INFO_DIR}/CMakeASCCompiler.cmake @ONLY)
