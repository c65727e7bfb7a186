# SPDX-License-Identifier: Apache-2.0
# Generates the wrappers from the operator specs and builds every operator into the package layout.
# One kernel library per (operator, architecture, dtype combination), so that an edit rebuilds that operator only.

set(ACLGRAD_GEN ${CMAKE_BINARY_DIR}/gen)
# A path and not -m, which would look for modules in the current folder first.
# Writes gen/operators.cmake (calls of aclgrad_operator, below), gen/op_api/*.{h,cpp}; files are touched only when they change.
execute_process(
  COMMAND ${CMAKE_COMMAND} -E env PYTHONPATH=${CMAKE_SOURCE_DIR}/python ${Python3_EXECUTABLE}
          ${CMAKE_SOURCE_DIR}/python/aclgrad/codegen/__main__.py --out ${ACLGRAD_GEN} --include-dir ${ACLGRAD_OPP}/op_api/include/aclnnop
  RESULT_VARIABLE codegen_status)
if(codegen_status)
  message(FATAL_ERROR "codegen failed; run: PYTHONPATH=python ${Python3_EXECUTABLE} -m aclgrad.codegen --out build/gen")
endif()
file(GLOB_RECURSE codegen_inputs CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/python/aclgrad/ops/*.py
     ${CMAKE_SOURCE_DIR}/python/aclgrad/spec/*.py ${CMAKE_SOURCE_DIR}/python/aclgrad/codegen/*.py ${CMAKE_SOURCE_DIR}/python/aclgrad/codegen/templates/*.j2)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${codegen_inputs})

set(ACLGRAD_TILING_SOURCES)
set(ACLGRAD_API_SOURCES)
set(ACLGRAD_KERNEL_TARGETS)

# aclgrad_operator(<op> OP_TYPE <OpType> API <aclnn file stem>|FOLDER <the op that it is another type of>
#                  VARIANTS <soc>|<npu arch>|<cce aicore>|<dtypes>|<define>,<define>,... ...)
function(aclgrad_operator op)
  cmake_parse_arguments(ARG "" "OP_TYPE;API;FOLDER" "VARIANTS" ${ARGN})
  set(source ${CMAKE_SOURCE_DIR}/op_kernel/${op}/${op}.cpp)
  if(ARG_FOLDER)
    set(source ${CMAKE_SOURCE_DIR}/op_kernel/${ARG_FOLDER}/${op}.cpp)
  endif()
  add_custom_target(${op})
  foreach(variant IN LISTS ARG_VARIANTS)
    string(REPLACE "|" ";" fields "${variant}")
    list(GET fields 0 soc)
    list(GET fields 1 npu_arch)
    list(GET fields 2 cce_aicore)
    list(GET fields 3 dtypes)
    list(GET fields 4 defines)
    string(REPLACE "," ";" defines "${defines}")
    set(kernel ${op}_${soc}_${dtypes})
    add_library(${kernel} MODULE ${source})
    target_compile_definitions(${kernel} PRIVATE __NPU_ARCH__=${npu_arch} __CCE_AICORE__=${cce_aicore} ${defines})
    target_include_directories(${kernel} PRIVATE ${CMAKE_SOURCE_DIR}/op_kernel ${CMAKE_SOURCE_DIR}/op_host
                               ${CMAKE_SOURCE_DIR})
    target_link_libraries(${kernel} PRIVATE aclgrad_options ascendcl)
    # Lines for the reports, which walk frame pointers to the call of an instruction. The instruction bodies live in libascendcl.so, so -O1 costs no speed.
    # -Wextra stands in front of its exceptions, because clang goes by the order.
    target_compile_options(${kernel} PRIVATE -O1 -gdwarf-4 -fno-omit-frame-pointer -fno-optimize-sibling-calls -fstack-clash-protection
                           # No report asks where variables are at each instruction, which is a third of a kernel's file.
                           $<$<CXX_COMPILER_ID:GNU>:-fno-var-tracking>
                           -Wall -Wextra -Wno-unused-parameter -Wno-unknown-pragmas)
    # The front end refuses what CANN's op compiler refuses before it compiles anything. Instrumented builds and those for other machines
    # have the sources of the ordinary one.
    if(NOT ACLGRAD_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
      string(REGEX REPLACE "([^;]+)" "-D\\1" words "${defines}")
      add_custom_command(TARGET ${kernel} PRE_LINK VERBATIM COMMAND ascc --front-end --npu-arch=dav-${npu_arch}
        --host-compiler=${CMAKE_CXX_COMPILER} -std=gnu++17 -D__NPU_ARCH__=${npu_arch} -D__CCE_AICORE__=${cce_aicore} ${words}
        -I${CMAKE_SOURCE_DIR}/op_kernel -I${CMAKE_SOURCE_DIR}/op_host ${source})
      add_dependencies(${kernel} toolkit_headers)  # it reads the kernel against these
    endif()
    set_target_properties(${kernel} PROPERTIES CXX_STANDARD 17 PREFIX "" OUTPUT_NAME ${ARG_OP_TYPE}_${dtypes}
      LIBRARY_OUTPUT_DIRECTORY ${ACLGRAD_OPP}/op_impl/ai_core/tbe/kernel/${soc}/${op}
      BUILD_RPATH "" BUILD_RPATH_USE_ORIGIN ON INSTALL_RPATH "")
    add_dependencies(${op} ${kernel})
  endforeach()
  if(ARG_FOLDER)
    add_dependencies(${ARG_FOLDER} ${op})
    return()
  endif()
  file(GLOB host CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/op_host/${op}/*.cpp)
  set(ACLGRAD_TILING_SOURCES ${ACLGRAD_TILING_SOURCES} ${host} PARENT_SCOPE)
  set(ACLGRAD_API_SOURCES ${ACLGRAD_API_SOURCES} ${ACLGRAD_GEN}/op_api/aclnn_${ARG_API}.cpp ${ACLGRAD_GEN}/op_api/${op}.cpp
      PARENT_SCOPE)
endfunction()

include(${ACLGRAD_GEN}/operators.cmake)

# Other people's operators get what these operators share: sources under aclgrad/ in the toolkit (docs/own_operator.md), and the host's part
# built. The names of the folders here belong to whoever includes them, so they are aclgrad/ there.
file(GLOB op_host_common CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/op_host/common/*.cpp)
file(GLOB shared_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/op_host/common/* ${CMAKE_SOURCE_DIR}/op_kernel/common/*)
foreach(source IN LISTS shared_sources)
  get_filename_component(name ${source} NAME)
  file(READ ${source} text)
  string(REPLACE "#include \"common/" "#include \"aclgrad/" text "${text}")
  file(CONFIGURE OUTPUT ${ACLGRAD_TOOLKIT}/op_library/aclgrad/${name} CONTENT "${text}" @ONLY)
endforeach()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${shared_sources})
add_library(aclgrad_tiling STATIC ${op_host_common})
target_include_directories(aclgrad_tiling PRIVATE ${CMAKE_SOURCE_DIR}/op_host)
target_link_libraries(aclgrad_tiling PRIVATE aclgrad_options register)
set_target_properties(aclgrad_tiling PROPERTIES CXX_STANDARD 17 ARCHIVE_OUTPUT_DIRECTORY ${ACLGRAD_TOOLKIT}/lib64)

add_library(cust_opmaster MODULE ${ACLGRAD_TILING_SOURCES})
target_include_directories(cust_opmaster PRIVATE ${CMAKE_SOURCE_DIR}/op_host ${CMAKE_SOURCE_DIR})
target_link_libraries(cust_opmaster PRIVATE aclgrad_options aclgrad_tiling register)
set_target_properties(cust_opmaster PROPERTIES CXX_STANDARD 17 OUTPUT_NAME cust_opmaster_rt2.0
  LIBRARY_OUTPUT_DIRECTORY ${ACLGRAD_OPP}/op_impl/ai_core/tbe/op_tiling/lib/linux/${CMAKE_SYSTEM_PROCESSOR}
  BUILD_RPATH "" BUILD_RPATH_USE_ORIGIN ON)

add_library(cust_opapi SHARED ${ACLGRAD_API_SOURCES})
target_include_directories(cust_opapi PRIVATE ${ACLGRAD_GEN}/op_api ${ACLGRAD_OPP}/op_api/include)
target_link_libraries(cust_opapi PRIVATE aclgrad_options nnopbase)
set_target_properties(cust_opapi PROPERTIES CXX_STANDARD 17 CXX_VISIBILITY_PRESET hidden
  LIBRARY_OUTPUT_DIRECTORY ${ACLGRAD_OPP}/op_api/lib
  BUILD_RPATH "$ORIGIN/../../../../../lib64" BUILD_RPATH_USE_ORIGIN ON)
add_dependencies(cust_opapi cust_opmaster)

# Lines for reports; a build with CMAKE_BUILD_TYPE=Debug has variables too. Wheels have a limit, and are optimised.
foreach(library aclgrad_tiling cust_opmaster cust_opapi)
  target_compile_options(${library} PRIVATE $<$<CONFIG:RelWithDebInfo>:-g1 $<IF:$<BOOL:${SKBUILD}>,-O2,-O1>>)
endforeach()

file(WRITE ${CMAKE_BINARY_DIR}/config.ini.new "load_priority=${ACLGRAD_VENDOR}\n")
file(COPY_FILE ${CMAKE_BINARY_DIR}/config.ini.new ${ACLGRAD_TOOLKIT}/opp/vendors/config.ini ONLY_IF_DIFFERENT)
