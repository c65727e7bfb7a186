# SPDX-License-Identifier: Apache-2.0
# The operators with the project template of a CANN 8.x toolkit. Its functions want a project of their own: `aclgrad build
# --device npu` makes one with the template's cmake/ and scripts/, whose CMakeLists.txt includes this file.
include(${CMAKE_SOURCE_DIR}/cmake/config.cmake)
include(${CMAKE_SOURCE_DIR}/cmake/func.cmake)
include(${CMAKE_SOURCE_DIR}/cmake/intf.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)

# opbuild() takes no compiler options; the compiler reads its include folders from here too.
list(JOIN ACLGRAD_HOST_INCLUDES ":" host_path)
list(JOIN ACLGRAD_CANN_INCLUDES ":" cann_path)
set(ENV{CPLUS_INCLUDE_PATH} "${host_path}:${cann_path}")
opbuild(OPS_SRC ${ACLGRAD_DEF_SOURCES} OUT_DIR ${ASCEND_AUTOGEN_PATH})
unset(ENV{CPLUS_INCLUDE_PATH})

set(registry -Wl,--whole-archive rt2_registry -Wl,--no-whole-archive)
add_library(cust_optiling SHARED ${ACLGRAD_HOST_SOURCES})
target_compile_definitions(cust_optiling PRIVATE OP_TILING_LIB)
target_link_libraries(cust_optiling PRIVATE intf_pub exe_graph register tiling_api ${registry})
set_target_properties(cust_optiling PROPERTIES OUTPUT_NAME cust_opmaster_rt2.0)
add_library(cust_op_proto SHARED ${ACLGRAD_HOST_SOURCES} ${ASCEND_AUTOGEN_PATH}/op_proto.cc)
target_compile_definitions(cust_op_proto PRIVATE OP_PROTO_LIB)
target_link_libraries(cust_op_proto PRIVATE intf_pub exe_graph register tiling_api ${registry})
set_target_properties(cust_op_proto PROPERTIES OUTPUT_NAME cust_opsproto_rt2.0)
add_library(cust_opapi SHARED ${ACLGRAD_API_SOURCES})
target_link_libraries(cust_opapi PRIVATE intf_pub ascendcl nnopbase ${ACLGRAD_API_LIBRARIES})
target_include_directories(cust_optiling BEFORE PRIVATE ${ACLGRAD_HOST_INCLUDES})
target_include_directories(cust_op_proto BEFORE PRIVATE ${ACLGRAD_HOST_INCLUDES})
target_include_directories(cust_opapi BEFORE PRIVATE ${ACLGRAD_API_INCLUDES})
foreach(library cust_optiling cust_op_proto cust_opapi)
  target_compile_options(${library} PRIVATE -fvisibility=hidden)
  target_include_directories(${library} PRIVATE ${ACLGRAD_CANN_INCLUDES})
endforeach()

# The template looks for op_kernel/<op>.cpp of its own project.
foreach(op IN LISTS ACLGRAD_OPS)
  configure_file(${ACLGRAD_ROOT}/op_kernel/${ACLGRAD_FOLDER_${op}}/${op}.cpp ${CMAKE_SOURCE_DIR}/op_kernel/${op}.cpp COPYONLY)
endforeach()
add_ops_compile_options(ALL OPTIONS ${ACLGRAD_KERNEL_OPTIONS})
add_subdirectory(${CMAKE_SOURCE_DIR}/op_kernel)

set(vendor_dir packages/vendors/${vendor_name})
set(tiling_dir ${vendor_dir}/op_impl/ai_core/tbe/op_tiling)
add_custom_target(optiling_compat ALL COMMAND ${CMAKE_COMMAND} -E create_symlink
                  lib/linux/${CMAKE_SYSTEM_PROCESSOR}/libcust_opmaster_rt2.0.so ${CMAKE_BINARY_DIR}/liboptiling.so)
install(TARGETS cust_optiling LIBRARY DESTINATION ${tiling_dir}/lib/linux/${CMAKE_SYSTEM_PROCESSOR})
install(FILES ${CMAKE_BINARY_DIR}/liboptiling.so DESTINATION ${tiling_dir})
install(TARGETS cust_op_proto LIBRARY DESTINATION ${vendor_dir}/op_proto/lib/linux/${CMAKE_SYSTEM_PROCESSOR})
install(FILES ${ASCEND_AUTOGEN_PATH}/op_proto.h DESTINATION ${vendor_dir}/op_proto/inc)
install(TARGETS cust_opapi LIBRARY DESTINATION ${vendor_dir}/op_api/lib)
install(FILES ${ACLGRAD_HEADERS} DESTINATION ${vendor_dir}/op_api/include/aclnnop)
