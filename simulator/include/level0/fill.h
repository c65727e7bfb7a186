// SPDX-License-Identifier: Apache-2.0
// Constant tensors.
#pragma once

#include "opdev/op_executor.h"

namespace l0op {

// A tensor of outShape, every element the first one of the host tensor value.
const aclTensor* Fill(const aclTensor* dims, const aclTensor* value, const aclIntArray* outShape,
                      aclOpExecutor* executor);

}  // namespace l0op
