// SPDX-License-Identifier: Apache-2.0
// Other path of op_common/op_kernel/platform_util.h.
#ifndef OP_KERNEL_PLATFORM_UTIL_H_
#define OP_KERNEL_PLATFORM_UTIL_H_

#include "op_common/op_kernel/platform_util.h"

#endif  // OP_KERNEL_PLATFORM_UTIL_H_
