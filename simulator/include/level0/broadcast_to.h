// SPDX-License-Identifier: Apache-2.0
// Broadcasting.
#ifndef LEVEL0_BROADCAST_TO_H_
#define LEVEL0_BROADCAST_TO_H_

#include "opdev/op_executor.h"

namespace l0op {

// A contiguous copy of x repeated to shape; x itself when it has that shape already.
const aclTensor* BroadcastTo(const aclTensor* x, const aclIntArray* shape, aclOpExecutor* executor);

}  // namespace l0op

#endif  // LEVEL0_BROADCAST_TO_H_
