// SPDX-License-Identifier: Apache-2.0
// Other path of op_common/op_host/util/bfloat16.h.
#ifndef OP_HOST_UTIL_BFLOAT16_H_
#define OP_HOST_UTIL_BFLOAT16_H_

#include "op_common/op_host/util/bfloat16.h"

#endif  // OP_HOST_UTIL_BFLOAT16_H_
