# SPDX-License-Identifier: Apache-2.0
# Stands in for the CMake functions of a CANN 9.x toolkit: checks arguments, makes the targets, writes each call to calls.txt.
# STANDIN_PACKAGE in the environment names a package that is built already: nothing is compiled, and that is staged.
if(NOT DEFINED ENV{ASCEND_HOME_PATH})
  message(FATAL_ERROR "ASCEND_HOME_PATH is not set")
endif()
set(ASCEND_AUTOGEN_PATH ${CMAKE_BINARY_DIR}/autogen)
file(MAKE_DIRECTORY ${ASCEND_AUTOGEN_PATH})
file(WRITE ${CMAKE_BINARY_DIR}/calls.txt "")
add_library(intf_pub INTERFACE)
target_compile_definitions(intf_pub INTERFACE _GLIBCXX_USE_CXX11_ABI=0)
target_include_directories(intf_pub INTERFACE ${ASCEND_CANN_PACKAGE_PATH}/include)

function(standin_record)
  list(JOIN ARGV " " text)
  file(APPEND ${CMAKE_BINARY_DIR}/calls.txt "${text}\n")
endfunction()

function(npu_op_package name)
  cmake_parse_arguments(ARG "" "TYPE" "CONFIG" ${ARGN})
  standin_record(npu_op_package ${name} ${ARG_TYPE} ${ARG_CONFIG})
  if(DEFINED ENV{STANDIN_PACKAGE})
    install(DIRECTORY $ENV{STANDIN_PACKAGE}/ DESTINATION packages/vendors/${name} USE_SOURCE_PERMISSIONS)
    add_custom_target(binary)
  endif()
endfunction()

function(npu_op_code_gen)
  cmake_parse_arguments(ARG "" "OUT_DIR;PACKAGE" "SRC;COMPILE_OPTIONS;OPTIONS" ${ARGN})
  standin_record(npu_op_code_gen ${ARG_PACKAGE} ${ARG_OPTIONS})
  if(DEFINED ENV{STANDIN_SKIPS_DEFINITIONS})
    set(ARG_SRC -x c++ /dev/null)
  endif()
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -D_GLIBCXX_USE_CXX11_ABI=0 -std=c++11 ${ARG_COMPILE_OPTIONS}
                          -I${ASCEND_CANN_PACKAGE_PATH}/include -fsyntax-only ${ARG_SRC} COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${ASCEND_CANN_PACKAGE_PATH}/tools/opbuild/op_build libascend_all_ops.so ${ARG_OUT_DIR}
                          --compute_unit=${ASCEND_COMPUTE_UNIT} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(npu_op_library name type)
  standin_record(npu_op_library ${name} ${type} ${ARGN})
  set_source_files_properties(${ARGN} PROPERTIES GENERATED FALSE)
  add_library(${name} OBJECT ${ARGN})
  if(DEFINED ENV{STANDIN_PACKAGE})
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
  target_link_libraries(${name} PRIVATE intf_pub)
endfunction()

function(npu_op_kernel_sources name)
  standin_record(npu_op_kernel_sources ${name} ${ARGN})
endfunction()

function(npu_op_kernel_options name op)
  cmake_parse_arguments(ARG "" "" "COMPUTE_UNIT;OPTIONS" ${ARGN})
  standin_record(npu_op_kernel_options ${name} ${op} ${ARG_OPTIONS})
endfunction()

function(npu_op_kernel_library name)
  cmake_parse_arguments(ARG "" "SRC_BASE;TILING_LIBRARY" "" ${ARGN})
  if(NOT TARGET ${ARG_TILING_LIBRARY})
    message(FATAL_ERROR "npu_op_kernel_library: ${ARG_TILING_LIBRARY} is no target")
  endif()
  standin_record(npu_op_kernel_library ${name} ${ARG_SRC_BASE} ${ARG_TILING_LIBRARY})
endfunction()

function(npu_op_package_add name)
  standin_record(npu_op_package_add ${name} ${ARGN})
endfunction()
