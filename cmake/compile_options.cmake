# SPDX-License-Identifier: Apache-2.0
# Flags that every target shares.
add_library(aclgrad_options INTERFACE)
# No contraction: a simulated multiply and add round twice on every host, as the instructions do.
target_compile_options(aclgrad_options INTERFACE -Wall -Wextra -ffp-contract=off)
if(ACLGRAD_WERROR OR DEFINED ENV{ACLGRAD_WERROR})
  target_compile_options(aclgrad_options INTERFACE -Werror)
endif()
if(ACLGRAD_SANITIZE)
  target_compile_options(aclgrad_options INTERFACE -fsanitize=${ACLGRAD_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(aclgrad_options INTERFACE -fsanitize=${ACLGRAD_SANITIZE})
endif()
