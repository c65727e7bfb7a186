// SPDX-License-Identifier: Apache-2.0
// Reshape keeps the elements and gives them another shape.
#pragma once

#include "opdev/op_executor.h"
#include "opdev/shape_utils.h"

namespace l0op {

// One dim may be -1. A view where x is contiguous, else of a contiguous copy.
const aclTensor* Reshape(const aclTensor* x, const op::Shape& shape, aclOpExecutor* executor);
const aclTensor* Reshape(const aclTensor* x, const aclIntArray* shape, aclOpExecutor* executor);

}  // namespace l0op
