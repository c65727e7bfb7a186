// SPDX-License-Identifier: Apache-2.0
// Other path of util/shape_util.h.
#ifndef OP_COMMON_OP_HOST_UTIL_SHAPE_UTIL_H_
#define OP_COMMON_OP_HOST_UTIL_SHAPE_UTIL_H_

#include "util/shape_util.h"

#endif  // OP_COMMON_OP_HOST_UTIL_SHAPE_UTIL_H_
