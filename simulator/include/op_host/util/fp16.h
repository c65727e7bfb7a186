// SPDX-License-Identifier: Apache-2.0
// Other path of op_common/op_host/util/fp16.h.
#ifndef OP_HOST_UTIL_FP16_H_
#define OP_HOST_UTIL_FP16_H_

#include "op_common/op_host/util/fp16.h"

#endif  // OP_HOST_UTIL_FP16_H_
