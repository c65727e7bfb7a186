// SPDX-License-Identifier: Apache-2.0
// Properties of views.
#pragma once

#include <initializer_list>

#include "opdev/common_types.h"

namespace op {

// Row-major strides; dims of size 1 and the offset do not matter, 0 or 1 elements always are
// contiguous.
bool IsContiguous(const aclTensor* tensor);
// The view covers a gap-free block, possibly with permuted dims; for several tensors, all in the
// same way.
bool CanPickViewAsContiguous(const aclTensor* tensor);
bool CanPickViewAsContiguous(std::initializer_list<const aclTensor*> tensors);
// Every element of the view lies inside the storage; reports what does not fit.
bool Validate(const aclTensor* tensor);

}  // namespace op
