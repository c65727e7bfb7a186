# SPDX-License-Identifier: Apache-2.0
# What both styles of CANN projects need: generated wrappers, sources by kind, include folders. Nothing here compiles.
# Set by the caller: ACLGRAD_PYTHON, ASCEND_COMPUTE_UNIT, ACLGRAD_INSTALL_DIR.
get_filename_component(ACLGRAD_ROOT ${CMAKE_CURRENT_LIST_DIR}/../.. ABSOLUTE)
set(ACLGRAD_VENDOR aclgrad)
set(ACLGRAD_CANN $ENV{ASCEND_HOME_PATH})
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

set(ACLGRAD_GEN ${CMAKE_BINARY_DIR}/gen)
# A path and not -m, which would look for modules in the current folder first.
execute_process(
  COMMAND ${CMAKE_COMMAND} -E env PYTHONPATH=${ACLGRAD_ROOT}/python ${ACLGRAD_PYTHON}
          ${ACLGRAD_ROOT}/python/aclgrad/codegen/__main__.py --out ${ACLGRAD_GEN} --include-dir ${ACLGRAD_GEN}/include/aclnnop
  RESULT_VARIABLE codegen_status)
if(codegen_status)
  message(FATAL_ERROR "codegen failed. Next: PYTHONPATH=python ${ACLGRAD_PYTHON} -m aclgrad.codegen --out build/gen")
endif()

# A family without kernels of its own takes those of the same instruction set.
set(family ${ASCEND_COMPUTE_UNIT})
if(family STREQUAL "ascend910_93")
  set(family ascend910b)
endif()

set(ACLGRAD_OPS)
set(ACLGRAD_HOST_SOURCES)
set(ACLGRAD_API_SOURCES)
# Called by gen/operators.cmake; an operator without a kernel for this compute unit is left out.
function(aclgrad_operator op)
  cmake_parse_arguments(ARG "" "OP_TYPE;API;FOLDER" "VARIANTS" ${ARGN})
  if(NOT "${ARG_VARIANTS}" MATCHES "(^|;)${family}\\|")
    message(STATUS "${op}: no kernel for ${ASCEND_COMPUTE_UNIT}, left out")
    return()
  endif()
  set(ACLGRAD_OPS ${ACLGRAD_OPS} ${op} PARENT_SCOPE)
  set(ACLGRAD_OP_TYPE_${op} ${ARG_OP_TYPE} PARENT_SCOPE)
  if(ARG_FOLDER)
    set(ACLGRAD_FOLDER_${op} ${ARG_FOLDER} PARENT_SCOPE)
    return()
  endif()
  set(ACLGRAD_FOLDER_${op} ${op} PARENT_SCOPE)
  file(GLOB host CONFIGURE_DEPENDS ${ACLGRAD_ROOT}/op_host/${op}/*.cpp)
  set(ACLGRAD_HOST_SOURCES ${ACLGRAD_HOST_SOURCES} ${host} PARENT_SCOPE)
  set(ACLGRAD_API_SOURCES ${ACLGRAD_API_SOURCES} ${ACLGRAD_GEN}/op_api/aclnn_${ARG_API}.cpp ${ACLGRAD_GEN}/op_api/${op}.cpp
      PARENT_SCOPE)
endfunction()
include(${ACLGRAD_GEN}/operators.cmake)
if(NOT ACLGRAD_OPS)
  message(FATAL_ERROR "no operator has a kernel for ${ASCEND_COMPUTE_UNIT}. Next: see the support table in README.md")
endif()
set(ACLGRAD_DEF_SOURCES ${ACLGRAD_HOST_SOURCES})
list(FILTER ACLGRAD_DEF_SOURCES INCLUDE REGEX "_def\\.cpp$")
file(GLOB common CONFIGURE_DEPENDS ${ACLGRAD_ROOT}/op_host/common/*.cpp)
list(APPEND ACLGRAD_HOST_SOURCES ${common})
file(GLOB ACLGRAD_HEADERS CONFIGURE_DEPENDS ${ACLGRAD_GEN}/include/aclnnop/*.h)

# CANN's versions keep the header names in different folders. Only folders that exist are named.
set(ACLGRAD_CANN_INCLUDES)
foreach(folder include include/op_common include/op_common/op_host include/nnopbase include/aclnn include/external
        include/experiment include/experiment/metadef include/experiment/platform include/experiment/slog
        include/experiment/runtime pkg_inc pkg_inc/base ${CMAKE_SYSTEM_PROCESSOR}-linux/pkg_inc
        ${CMAKE_SYSTEM_PROCESSOR}-linux/pkg_inc/base opp/built-in/op_impl/ai_core/tbe/op_api/include)
  if(IS_DIRECTORY ${ACLGRAD_CANN}/${folder})
    list(APPEND ACLGRAD_CANN_INCLUDES ${ACLGRAD_CANN}/${folder})
  endif()
endforeach()
# Declarations that no toolkit installs, or only some do: the functions are in CANN's libraries all the same.
set(ACLGRAD_COMPAT ${CMAKE_BINARY_DIR}/compat)
foreach(header level0/broadcast_to.h level0/reduce_sum_op.h level0/zero_op.h aclnn_kernels/cast.h
        aclnn_kernels/contiguous.h aclnn_kernels/reshape.h log/log.h)
  find_file(found_header ${header} PATHS ${ACLGRAD_CANN_INCLUDES} NO_DEFAULT_PATH NO_CACHE)
  if(NOT found_header)
    set(ours ${ACLGRAD_ROOT}/simulator/include/${header})
    if(EXISTS ${CMAKE_CURRENT_LIST_DIR}/compat/${header})
      set(ours ${CMAKE_CURRENT_LIST_DIR}/compat/${header})
    endif()
    configure_file(${ours} ${ACLGRAD_COMPAT}/${header} COPYONLY)
    message(STATUS "${header}: not in ${ACLGRAD_CANN}, declared here")
  endif()
  unset(found_header)
endforeach()
# Ours first: CANN has headers of the same names for its own build of these operators.
set(ACLGRAD_HOST_INCLUDES ${ACLGRAD_ROOT}/op_host ${ACLGRAD_COMPAT})
set(ACLGRAD_API_INCLUDES ${ACLGRAD_GEN}/op_api ${ACLGRAD_GEN}/include ${ACLGRAD_COMPAT})
set(ACLGRAD_KERNEL_OPTIONS -I${ACLGRAD_ROOT}/op_kernel -I${ACLGRAD_ROOT}/op_host)

# The functions behind level0/ and aclnn_kernels/.
set(ACLGRAD_API_LIBRARIES)
foreach(name opapi_math opapi)
  find_library(found_library ${name} PATHS ${ACLGRAD_CANN}/lib64 NO_DEFAULT_PATH NO_CACHE)
  if(found_library)
    list(APPEND ACLGRAD_API_LIBRARIES ${found_library})
  endif()
  unset(found_library)
endforeach()
