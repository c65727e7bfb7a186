# SPDX-License-Identifier: Apache-2.0
# Stands in for the project template of a CANN 8.x toolkit.
set(ASCEND_AUTOGEN_PATH ${CMAKE_BINARY_DIR}/autogen)
file(MAKE_DIRECTORY ${ASCEND_AUTOGEN_PATH})
file(WRITE ${CMAKE_BINARY_DIR}/calls.txt "")
