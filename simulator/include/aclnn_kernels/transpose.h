// SPDX-License-Identifier: Apache-2.0
// Permutation of dims.
#ifndef ACLNN_KERNELS_TRANSPOSE_H_
#define ACLNN_KERNELS_TRANSPOSE_H_

#include "opdev/op_executor.h"

namespace l0op {

// A contiguous copy with dim i = dim perm[i] of x.
const aclTensor* Transpose(const aclTensor* x, const aclIntArray* perm, aclOpExecutor* executor);

}  // namespace l0op

#endif  // ACLNN_KERNELS_TRANSPOSE_H_
