// SPDX-License-Identifier: Apache-2.0
// Permutation of dims.
#pragma once

#include "opdev/op_executor.h"

namespace l0op {

// A contiguous copy with dim i = dim perm[i] of x.
const aclTensor* Transpose(const aclTensor* x, const aclIntArray* perm, aclOpExecutor* executor);

}  // namespace l0op
