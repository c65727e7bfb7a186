# SPDX-License-Identifier: Apache-2.0
# find_package(ASC): the language of .asc files, kernels and host code in one, for project(x LANGUAGES ASC CXX). Programs run on
# the simulator. Before the project's first languages: cmake -DCMAKE_PREFIX_PATH=$(aclgrad config --cmake)
#
#   CMAKE_ASC_ARCHITECTURES   dav-2201, dav-3510, ...: given to every compile as --npu-arch
#   CMAKE_ASC_RUN_MODE        npu, cpu or sim: the simulator in any case; cpu defines ASCENDC_CPU_DEBUG

get_filename_component(ASC_TOOLKIT "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
list(APPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}/asc")
if(NOT EXISTS "${ASC_TOOLKIT}/bin/ascc")
  set(ASC_FOUND FALSE)
  set(ASC_NOT_FOUND_MESSAGE "${ASC_TOOLKIT}/bin/ascc is missing. Next: aclgrad doctor")
endif()
