# SPDX-License-Identifier: Apache-2.0
function(opbuild)
  cmake_parse_arguments(ARG "" "OUT_DIR" "OPS_SRC" ${ARGN})
  file(APPEND ${CMAKE_BINARY_DIR}/calls.txt "opbuild\n")
  if(DEFINED ENV{STANDIN_SKIPS_DEFINITIONS})
    set(ARG_OPS_SRC -x c++ /dev/null)
  endif()
  # No include folder but these two, as in the template; the real one compiles with -std=c++11.
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -fsyntax-only -std=c++17 ${ARG_OPS_SRC} -D_GLIBCXX_USE_CXX11_ABI=0
                          -I ${ASCEND_CANN_PACKAGE_PATH}/include -I ${CMAKE_SOURCE_DIR} COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${ASCEND_CANN_PACKAGE_PATH}/tools/opbuild/op_build libascend_all_ops.so ${ARG_OUT_DIR}
                          --compute_unit=${ASCEND_COMPUTE_UNIT} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(add_ops_compile_options op)
  cmake_parse_arguments(ARG "" "" "COMPUTE_UNIT;OPTIONS" ${ARGN})
  list(JOIN ARG_OPTIONS " " text)
  file(APPEND ${CMAKE_BINARY_DIR}/calls.txt "add_ops_compile_options ${op} ${text}\n")
endfunction()

function(add_kernels_compile)
  file(STRINGS ${ASCEND_AUTOGEN_PATH}/aic-${ASCEND_COMPUTE_UNIT}-ops-info.ini names REGEX "^opFile.value=")
  foreach(name IN LISTS names)
    string(REPLACE "opFile.value=" "" name "${name}")
    if(NOT EXISTS ${CMAKE_SOURCE_DIR}/op_kernel/${name}.cpp)
      message(FATAL_ERROR "no op_kernel/${name}.cpp")
    endif()
    file(APPEND ${CMAKE_BINARY_DIR}/calls.txt "kernel ${name}\n")
  endforeach()
endfunction()
