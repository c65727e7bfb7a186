// SPDX-License-Identifier: Apache-2.0
// Sums over dims.
#pragma once

#include "opdev/make_op_executor.h"
#include "opdev/op_executor.h"

namespace l0op {

// Adds in double (int64 for integers, wrapping) in a fixed order and rounds once. No axes means all
// of them.
const aclTensor* ReduceSumOp(const aclTensor* x, const aclIntArray* axes, bool keepDims,
                             aclOpExecutor* executor);

}  // namespace l0op
