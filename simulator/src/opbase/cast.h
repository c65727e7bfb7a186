// SPDX-License-Identifier: Apache-2.0
// Element conversion between data types in host memory.
#pragma once

#include <cstdint>

#include "graph/types.h"

namespace op::internal {

bool CanConvert(ge::DataType type);
// Rules as in aclnn_kernels/cast.h. from and to are arrays of count elements that do not overlap.
bool ConvertElements(const void* from, ge::DataType fromType, void* to, ge::DataType toType,
                     uint64_t count);

}  // namespace op::internal
