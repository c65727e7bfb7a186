// SPDX-License-Identifier: Apache-2.0
// Broadcasting.
#pragma once

#include "opdev/op_executor.h"

namespace l0op {

// A contiguous copy of x repeated to shape; x itself when it has that shape already.
const aclTensor* BroadcastTo(const aclTensor* x, const aclIntArray* shape, aclOpExecutor* executor);

}  // namespace l0op
