// SPDX-License-Identifier: Apache-2.0
// Other path of op_common/op_host/util/const_util.h.
#ifndef OP_HOST_UTIL_CONST_UTIL_H_
#define OP_HOST_UTIL_CONST_UTIL_H_

#include "op_common/op_host/util/const_util.h"

#endif  // OP_HOST_UTIL_CONST_UTIL_H_
