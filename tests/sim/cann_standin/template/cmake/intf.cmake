# SPDX-License-Identifier: Apache-2.0
add_library(intf_pub INTERFACE)
target_compile_definitions(intf_pub INTERFACE _GLIBCXX_USE_CXX11_ABI=0)
target_include_directories(intf_pub INTERFACE ${ASCEND_CANN_PACKAGE_PATH}/include)
target_link_directories(intf_pub INTERFACE ${ASCEND_CANN_PACKAGE_PATH}/lib64)
