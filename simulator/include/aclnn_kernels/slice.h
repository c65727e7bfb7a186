// SPDX-License-Identifier: Apache-2.0
// A box out of a tensor.
#pragma once

#include "opdev/op_executor.h"

namespace l0op {

// A contiguous copy of size[i] elements from offsets[i] on, in every dim; a size of -1 means all
// that follow.
const aclTensor* Slice(const aclTensor* x, const aclIntArray* offsets, const aclIntArray* size,
                       aclOpExecutor* executor);

}  // namespace l0op
