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
