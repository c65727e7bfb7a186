// SPDX-License-Identifier: Apache-2.0
// Zeros around a tensor.
#pragma once

#include "opdev/op_executor.h"

namespace l0op {

// paddings, on the host: how many zeros before and behind each dim.
const aclTensor* Pad(const aclTensor* self, const aclTensor* paddings, aclOpExecutor* executor);

}  // namespace l0op
