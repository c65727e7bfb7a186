# SPDX-License-Identifier: Apache-2.0
# Flags that every target shares.
add_library(aclgrad_options INTERFACE)
# No contraction: a simulated multiply and add round twice on every host, as the instructions do.
target_compile_options(aclgrad_options INTERFACE -Wall -Wextra -ffp-contract=off)
# clang warns of std::stable_sort of libstdc++ 12 itself: it allocates by a function that C++17 deprecates.
target_compile_options(aclgrad_options INTERFACE $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>)
# Functions of a library may be inlined in it, although others can call them too.
target_compile_options(aclgrad_options INTERFACE -fno-semantic-interposition)
# Instrumented code makes g++ warn of what is no fault; the ordinary build has the same sources.
if((ACLGRAD_WERROR OR DEFINED ENV{ACLGRAD_WERROR}) AND NOT ACLGRAD_SANITIZE)
  target_compile_options(aclgrad_options INTERFACE -Werror)
endif()
# A library names its sources by their place in the checkout and says nothing of the machine that built it. Debug is for gdb here.
if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
  target_compile_options(aclgrad_options INTERFACE -ffile-prefix-map=${CMAKE_SOURCE_DIR}=.
                                                   -ffile-prefix-map=${CMAKE_BINARY_DIR}=.)
endif()
if(ACLGRAD_SANITIZE)
  set(sanitizers thread)
  if(ACLGRAD_SANITIZE STREQUAL "address")
    # A null pointer ends in AddressSanitizer's report anyhow, and these checks double the time of compiling.
    set(sanitizers address,undefined -fno-sanitize=null,vptr,object-size)
  endif()
  # After every target's own options: g++ takes twice as long to compile instrumented code when it optimises it. Lines, no variables.
  target_compile_options(aclgrad_options INTERFACE -fsanitize=${sanitizers} -fno-omit-frame-pointer -O0 -g1)
  target_link_options(aclgrad_options INTERFACE -fsanitize=${sanitizers})
endif()
