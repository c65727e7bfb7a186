// SPDX-License-Identifier: Apache-2.0
// Other path of op_common/op_kernel/math_util.h.
#ifndef OP_KERNEL_MATH_UTIL_H_
#define OP_KERNEL_MATH_UTIL_H_

#include "op_common/op_kernel/math_util.h"

#endif  // OP_KERNEL_MATH_UTIL_H_
