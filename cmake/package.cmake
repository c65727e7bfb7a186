# SPDX-License-Identifier: Apache-2.0
# find_package(aclgrad) for kernel developers: the toolkit folder carries its own CMake files and finds the rest from there.
include(CMakePackageConfigHelpers)
set(package_dir ${ACLGRAD_TOOLKIT}/share/cmake/aclgrad)
configure_file(${CMAKE_SOURCE_DIR}/cmake/package/aclgrad-config.cmake.in ${package_dir}/aclgrad-config.cmake @ONLY)
configure_file(${CMAKE_SOURCE_DIR}/simulator/src/soc/soc.json ${package_dir}/soc.json COPYONLY)
configure_file(${CMAKE_SOURCE_DIR}/cmake/package/gtest_main.cpp ${package_dir}/gtest_main.cpp COPYONLY)
write_basic_package_version_file(${package_dir}/aclgrad-config-version.cmake COMPATIBILITY SameMinorVersion)

# find_package(ASC): the language of .asc files
set(asc_files ASCConfig.cmake asc/CMakeDetermineASCCompiler.cmake asc/CMakeASCCompiler.cmake.in asc/CMakeASCInformation.cmake
    asc/CMakeTestASCCompiler.cmake)
foreach(file IN LISTS asc_files)
  configure_file(${CMAKE_SOURCE_DIR}/cmake/package/${file} ${package_dir}/${file} COPYONLY)
endforeach()

# Programs that read CANN's environment get set_env.sh, the folders that they look for, and the Python package that follows torch_npu.
configure_file(${CMAKE_SOURCE_DIR}/cmake/package/set_env.sh ${ACLGRAD_TOOLKIT}/set_env.sh COPYONLY)
foreach(part runtime compiler)
  file(CONFIGURE OUTPUT ${ACLGRAD_TOOLKIT}/${part}/version.info CONTENT "Version=${ACLGRAD_CANN_VERSION}\n")
endforeach()
file(CONFIGURE OUTPUT ${ACLGRAD_TOOLKIT}/ascend_simulator_install.info CONTENT
     "package_name=aclgrad's simulator\nversion=${ACLGRAD_CANN_VERSION}\n")
set(torch_package aclgrad_torch_npu)
file(GLOB_RECURSE torch_files CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/python ${CMAKE_SOURCE_DIR}/python/${torch_package}/*.py)
foreach(file IN LISTS torch_files)
  configure_file(${CMAKE_SOURCE_DIR}/python/${file} ${ACLGRAD_TOOLKIT}/python/${file} COPYONLY)
endforeach()
configure_file(${CMAKE_SOURCE_DIR}/cmake/package/sitecustomize.py ${ACLGRAD_TOOLKIT}/python/sitecustomize.py COPYONLY)

# Kernel-launch projects include it from one of these places of a CANN toolkit.
foreach(part tools compiler)
  configure_file(${CMAKE_SOURCE_DIR}/cmake/package/ascendc.cmake
                 ${ACLGRAD_TOOLKIT}/${part}/tikcpp/ascendc_kernel_cmake/ascendc.cmake COPYONLY)
endforeach()
