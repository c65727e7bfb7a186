// SPDX-License-Identifier: Apache-2.0
// Other path of util/platform_util.h.
#ifndef OP_HOST_UTIL_PLATFORM_UTIL_H_
#define OP_HOST_UTIL_PLATFORM_UTIL_H_

#include "util/platform_util.h"

#endif  // OP_HOST_UTIL_PLATFORM_UTIL_H_
