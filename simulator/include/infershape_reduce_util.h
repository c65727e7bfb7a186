// SPDX-License-Identifier: Apache-2.0
// Other path of op_common/op_host/infershape_reduce_util.h.
#ifndef INFERSHAPE_REDUCE_UTIL_H_
#define INFERSHAPE_REDUCE_UTIL_H_

#include "op_common/op_host/infershape_reduce_util.h"

#endif  // INFERSHAPE_REDUCE_UTIL_H_
