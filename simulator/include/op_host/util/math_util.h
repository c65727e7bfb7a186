// SPDX-License-Identifier: Apache-2.0
// Other path of util/math_util.h.
#ifndef OP_HOST_UTIL_MATH_UTIL_H_
#define OP_HOST_UTIL_MATH_UTIL_H_

#include "util/math_util.h"

#endif  // OP_HOST_UTIL_MATH_UTIL_H_
