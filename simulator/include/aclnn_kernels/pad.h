// SPDX-License-Identifier: Apache-2.0
// Zeros around a tensor.
#ifndef ACLNN_KERNELS_PAD_H_
#define ACLNN_KERNELS_PAD_H_

#include "opdev/op_executor.h"

namespace l0op {

// paddings, on the host: how many zeros before and behind each dim.
const aclTensor* Pad(const aclTensor* self, const aclTensor* paddings, aclOpExecutor* executor);

}  // namespace l0op

#endif  // ACLNN_KERNELS_PAD_H_
