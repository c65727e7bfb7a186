# SPDX-License-Identifier: Apache-2.0
# find_package(aclgrad) for kernel developers: the toolkit folder carries its own CMake files and finds the rest from there.
include(CMakePackageConfigHelpers)
set(package_dir ${ACLGRAD_TOOLKIT}/share/cmake/aclgrad)
configure_file(${CMAKE_SOURCE_DIR}/cmake/package/aclgrad-config.cmake.in ${package_dir}/aclgrad-config.cmake @ONLY)
configure_file(${CMAKE_SOURCE_DIR}/simulator/src/soc/soc.json ${package_dir}/soc.json COPYONLY)
write_basic_package_version_file(${package_dir}/aclgrad-config-version.cmake COMPATIBILITY SameMinorVersion)
