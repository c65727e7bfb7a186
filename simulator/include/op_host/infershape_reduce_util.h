// SPDX-License-Identifier: Apache-2.0
// Other path of op_common/op_host/infershape_reduce_util.h.
#ifndef OP_HOST_INFERSHAPE_REDUCE_UTIL_H_
#define OP_HOST_INFERSHAPE_REDUCE_UTIL_H_

#include "op_common/op_host/infershape_reduce_util.h"

#endif  // OP_HOST_INFERSHAPE_REDUCE_UTIL_H_
