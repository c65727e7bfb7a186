# SPDX-License-Identifier: Apache-2.0
# The toolkit brings the compiler along.
set(CMAKE_ASC_COMPILER_WORKS 1 CACHE INTERNAL "")
