# SPDX-License-Identifier: Apache-2.0
# Kernel-launch projects: ascendc_library() and what belongs to it, as CANN's file of this name has them. Kernels run on the simulator.
#
#   ascendc_library(<target> STATIC|SHARED|OBJECT <file>...)    a library of kernels; aclrtlaunch_<kernel>.h for host code
#   ascendc_include_directories(<target> PUBLIC|PRIVATE <folder>...)
#   ascendc_compile_definitions(<target> PUBLIC|PRIVATE <-DNAME=value>...)
#   ascendc_compile_options(<target> PUBLIC|PRIVATE <word>...)
#   host_intf_pub                                               what host code is compiled and linked with
#
# SOC_VERSION is a SoC such as Ascend910B2, the default. RUN_MODE is npu, cpu or sim: the simulator in any case. ACLGRAD_LEAVE_OUT lists
# kernel files, without folders, that are not compiled: the launches of their kernels throw.
include_guard(GLOBAL)
cmake_minimum_required(VERSION 3.19)
# Dependencies are written with absolute paths. Unset, the policy is a warning of Ninja's for each kernel file.
if(POLICY CMP0116)
  cmake_policy(SET CMP0116 NEW)
endif()

get_filename_component(_ascendc_toolkit "${CMAKE_CURRENT_LIST_DIR}/../../.." REALPATH)
find_package(aclgrad REQUIRED PATHS "${_ascendc_toolkit}/share/cmake" NO_DEFAULT_PATH)

if(NOT SOC_VERSION)
  set(SOC_VERSION Ascend910B2)
endif()
# ascend910b2 and Ascend910B2 are one.
string(REGEX REPLACE "^[Aa][Ss][Cc][Ee][Nn][Dd]" "" _ascendc_soc "${SOC_VERSION}")
string(TOUPPER "${_ascendc_soc}" _ascendc_soc)
string(REGEX REPLACE "(_[0-9A-Z]+)$" "\\1" _ascendc_soc "Ascend${_ascendc_soc}")
aclgrad_soc(${_ascendc_soc} _ascendc)

if(NOT TARGET host_intf_pub)
  add_library(host_intf_pub INTERFACE)
  target_link_libraries(host_intf_pub INTERFACE aclgrad::register aclgrad::ascendcl)
  target_link_directories(host_intf_pub INTERFACE "${_ascendc_toolkit}/lib64")
  target_compile_features(host_intf_pub INTERFACE cxx_std_17)
endif()

function(ascendc_library target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "STATIC;SHARED;OBJECT" "" "")
  set(kind STATIC)  # OBJECT too: CMake hands on no objects of other compilers
  if(ARG_SHARED)
    set(kind SHARED)
  endif()
  set(sources)
  foreach(source IN LISTS ARG_UNPARSED_ARGUMENTS)
    get_filename_component(source "${source}" ABSOLUTE)
    if(NOT EXISTS "${source}")
      message(FATAL_ERROR "ascendc_library(${target}): ${source} is missing")
    endif()
    list(APPEND sources "${source}")
  endforeach()
  if(NOT sources)
    message(FATAL_ERROR "ascendc_library(${target}): want kernel files, got none")
  endif()
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${target}")
  file(MAKE_DIRECTORY "${folder}/include" "${folder}/include/${target}")
  set(objects)
  foreach(source IN LISTS sources)
    get_filename_component(name "${source}" NAME)
    string(MD5 key "${source}")
    string(SUBSTRING "${key}" 0 8 key)
    list(APPEND objects "${folder}/${name}.${key}.o")
  endforeach()
  # Nothing of it is C++ for CMake: the kernels' compiler makes the objects.
  set_source_files_properties(${objects} PROPERTIES GENERATED TRUE EXTERNAL_OBJECT TRUE)
  add_library(${target} ${kind} ${objects})
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX ASCENDC_SOURCES "${sources}" ASCENDC_OBJECTS "${objects}"
                        ASCENDC_FOLDER "${folder}" POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${target} INTERFACE "${folder}/include" "${folder}/include/${target}")
  target_link_libraries(${target} PUBLIC aclgrad::ascendcl)
  # Who links it names further libraries of the toolkit, as with CANN.
  target_link_directories(${target} INTERFACE "${_ascendc_toolkit}/lib64")
  # The call is deferred, so that properties count that are set on the target after this.
  cmake_language(EVAL CODE "cmake_language(DEFER CALL _ascendc_compile [[${target}]])")
endfunction()

foreach(_ascendc_what include_directories compile_definitions compile_options)
  cmake_language(EVAL CODE "
    function(ascendc_${_ascendc_what} target)
      _ascendc_say(ascendc_${_ascendc_what} \${target} ASCENDC_${_ascendc_what} \${ARGN})
    endfunction()")
endforeach()

function(_ascendc_say function target property)
  if(NOT TARGET ${target})
    message(FATAL_ERROR "${function}(${target}): no such target; want one of ascendc_library() before it")
  endif()
  set(words ${ARGN})
  list(REMOVE_ITEM words PUBLIC PRIVATE INTERFACE)
  if(property STREQUAL ASCENDC_include_directories)
    set(folders)
    foreach(word IN LISTS words)
      get_filename_component(word "${word}" ABSOLUTE)
      list(APPEND folders "${word}")
    endforeach()
    set(words ${folders})
  endif()
  set_property(TARGET ${target} APPEND PROPERTY ${property} ${words})
endfunction()

# The rules of a library's objects, and the headers of its kernels.
function(_ascendc_compile target)
  set(words "--host-compiler=${CMAKE_CXX_COMPILER}" --npu-arch=dav-${_ascendc_NPU_ARCH} -std=c++17 -fPIC -gdwarf-4)
  if(CMAKE_BUILD_TYPE STREQUAL "Debug")
    list(APPEND words -O0)
  else()
    list(APPEND words -O1)
  endif()
  if(RUN_MODE STREQUAL "cpu")
    list(APPEND words --run-mode=cpu)
  endif()
  set(read)
  get_target_property(folders ${target} ASCENDC_include_directories)
  get_directory_property(common INCLUDE_DIRECTORIES)
  foreach(folder IN LISTS folders common)
    if(folder)
      list(APPEND read "-I${folder}")
    endif()
  endforeach()
  get_target_property(definitions ${target} ASCENDC_compile_definitions)
  foreach(word IN LISTS definitions)
    if(word)
      string(REGEX REPLACE "^-D" "" word "${word}")
      list(APPEND read "-D${word}")
    endif()
  endforeach()
  get_target_property(options ${target} ASCENDC_compile_options)
  foreach(word IN LISTS options)
    # Words for the device's compiler alone say nothing here.
    if(word MATCHES "^-[DIU]")
      list(APPEND read "${word}")
    endif()
  endforeach()
  get_target_property(folder ${target} ASCENDC_FOLDER)
  get_target_property(sources ${target} ASCENDC_SOURCES)
  get_target_property(objects ${target} ASCENDC_OBJECTS)
  foreach(source object IN ZIP_LISTS sources objects)
    get_filename_component(beside "${source}" DIRECTORY)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
    set(wrapper "${object}.asc")
    _ascendc_launches("${source}" "${folder}/include" "${wrapper}" "-I${beside}" ${read})
    add_custom_command(OUTPUT "${object}" DEPENDS "${wrapper}" "${source}" "${_ascendc_toolkit}/bin/ascc" DEPFILE "${object}.d"
      COMMAND "${_ascendc_toolkit}/bin/ascc" ${words} "-I${beside}" ${read} -MD -MF "${object}.d" -MT "${object}" -c
              --asc-aicore-lang "${wrapper}" -o "${object}"
      COMMENT "Kernels of ${source}" VERBATIM COMMAND_EXPAND_LISTS)
  endforeach()
endfunction()

# Writes aclrtlaunch_<kernel>.h for the kernels of a source, and the source with the functions of these headers.
function(_ascendc_launches source include wrapper)
  execute_process(COMMAND "${CMAKE_CXX_COMPILER}" -std=c++17 -E -P -x c++ -DACLSIM_TPL_LIST -D__NPU_ARCH__=${_ascendc_NPU_ARCH}
                          -D__CCE_AICORE__=${_ascendc_CCE_AICORE} "-I${_ascendc_toolkit}/include" ${ARGN} "${source}"
                  OUTPUT_VARIABLE text ERROR_VARIABLE errors RESULT_VARIABLE failed)
  set(functions)
  get_filename_component(file "${source}" NAME)
  set(left_out FALSE)
  if(file IN_LIST ACLGRAD_LEAVE_OUT)
    set(left_out TRUE)
    # The heads of its kernels are read without the headers, which may be what is missing.
    file(READ "${source}" text)
    string(REGEX REPLACE "#[ \t]*include[^\n]*" "" text "${text}")
    file(WRITE "${wrapper}.heads.cpp" "${text}")
    execute_process(COMMAND "${CMAKE_CXX_COMPILER}" -std=c++17 -E -P -x c++ -D__CCE_AICORE__=${_ascendc_CCE_AICORE} ${ARGN} "${wrapper}.heads.cpp"
                    OUTPUT_VARIABLE text ERROR_QUIET)
  elseif(failed)
    # Other sources build; this one says the same again when it is compiled, or the next step where the cause is gone by then.
    message(WARNING "ascendc_library: ${source} does not get through the preprocessor, so its kernels have no launches and its "
                    "target will not build:\n${errors}")
    set(text)
    set(functions "#error \"this file did not get through the preprocessor when CMake ran. Next: run cmake again\"")
  endif()
  # These are words of CMake's lists.
  string(REGEX REPLACE "[][;\n\r]" " " text "${text}")
  set(word "[A-Za-z_][A-Za-z_0-9]*")
  string(REGEX MATCHALL "(template *<[^{}]*> *)?(extern +\"C\" *)?__global__[^(){}]*\\([^(){}]*\\) *{" found "${text}")
  foreach(head IN LISTS found)
    if(head MATCHES "^template" OR NOT head MATCHES "(${word}) *\\(([^(){}]*)\\) *{$")
      continue()
    endif()
    set(kernel ${CMAKE_MATCH_1})
    string(STRIP "${CMAKE_MATCH_2}" params)
    string(REPLACE "," ";" params "${params}")
    # The launch's own two step aside where the kernel has their names.
    set(blocks numBlocks)
    set(stream stream)
    foreach(own IN ITEMS blocks stream)
      while(",${params}" MATCHES "[ *&]${${own}} *([;=]|$)")
        string(PREPEND ${own} _)
      endwhile()
    endforeach()
    set(declared "uint32_t ${blocks}, aclrtStream ${stream}")
    set(given)
    foreach(param IN LISTS params)
      string(REGEX REPLACE "=.*" "" param "${param}")
      string(STRIP "${param}" param)
      if(param STREQUAL "void" OR NOT param MATCHES "^(.*[ *&])(${word})$")
        continue()
      endif()
      set(type "${CMAKE_MATCH_1}")
      set(name "${CMAKE_MATCH_2}")
      if(type MATCHES "\\*|GM_ADDR")
        string(APPEND declared ", void* ${name}")
        list(APPEND given "reinterpret_cast<${type}>(${name})")
      else()
        string(STRIP "${type}" type)
        string(APPEND declared ", ${type} ${name}")
        list(APPEND given "${name}")
      endif()
    endforeach()
    list(JOIN given ", " given)
    file(CONFIGURE OUTPUT "${include}/aclrtlaunch_${kernel}.h" @ONLY CONTENT "// Written by ascendc.cmake from @source@ - do not edit
#ifndef ACLRTLAUNCH_@kernel@_H_
#define ACLRTLAUNCH_@kernel@_H_

#include <stdint.h>

#include \"acl/acl_base.h\"

#ifndef ACLRT_LAUNCH_KERNEL
#define ACLRT_LAUNCH_KERNEL(kernel_func) aclrtlaunch_##kernel_func
#endif

extern \"C\" uint32_t aclrtlaunch_@kernel@(@declared@);

#endif  // ACLRTLAUNCH_@kernel@_H_
")
    set(head "${declared}")
    set(body "${kernel}<<<${blocks}, nullptr, ${stream}>>>(${given});
  return 0;")
    if(left_out)
      string(REGEX REPLACE " [A-Za-z_0-9]+(,|$)" "\\1" head "${declared}")
      set(body "throw std::runtime_error(
    \"${kernel}: its source is left out of this build, ${source}. Next: take ${file} out of ACLGRAD_LEAVE_OUT\");")
    endif()
    string(APPEND functions "
extern \"C\" uint32_t aclrtlaunch_${kernel}(${head}) {
  ${body}
}
")
  endforeach()
  set(kernels "#include \"${source}\"")
  if(left_out)
    set(kernels "#include <stdexcept>")
  endif()
  file(CONFIGURE OUTPUT "${wrapper}" @ONLY CONTENT "// Written by ascendc.cmake - do not edit
#include \"acl/acl.h\"
@kernels@
@functions@")
endfunction()
