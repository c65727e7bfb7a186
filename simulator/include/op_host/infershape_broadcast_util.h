// SPDX-License-Identifier: Apache-2.0
// Other path of op_common/op_host/infershape_broadcast_util.h.
#ifndef OP_HOST_INFERSHAPE_BROADCAST_UTIL_H_
#define OP_HOST_INFERSHAPE_BROADCAST_UTIL_H_

#include "op_common/op_host/infershape_broadcast_util.h"

#endif  // OP_HOST_INFERSHAPE_BROADCAST_UTIL_H_
