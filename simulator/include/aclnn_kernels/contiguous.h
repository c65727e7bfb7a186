// SPDX-License-Identifier: Apache-2.0
// Copies between views.
#pragma once

#include "opdev/op_executor.h"

namespace l0op {

// All answer nullptr, with the reason reported, when a view reaches outside its storage.

// x row-major: a view of the same memory when x is that already, else a copy.
const aclTensor* Contiguous(const aclTensor* x, aclOpExecutor* executor);
// Writes x, element by element in row-major order, through the view y; nothing outside y changes.
// When x is a result of this executor and y is contiguous, x is computed in place in y and nothing
// is copied. Returns y.
const aclTensor* ViewCopy(const aclTensor* x, const aclTensor* y, aclOpExecutor* executor);
// x as one row-major block in memory order, for elementwise use; x must satisfy
// op::CanPickViewAsContiguous.
const aclTensor* PickViewAsContiguous(const aclTensor* x, aclOpExecutor* executor);
// The inverse: x in memory order, seen with the shape and strides of y.
const aclTensor* ReViewToOut(const aclTensor* x, const aclTensor* y, aclOpExecutor* executor);

}  // namespace l0op
