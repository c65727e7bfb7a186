// SPDX-License-Identifier: Apache-2.0
// Geometry of views.
#pragma once

#include <cstdint>

#include "opdev/common_types.h"

namespace op::internal {

// No tensor has more elements, and no element lies further from the start of its storage: device
// addresses have 48 bits. Sums of sizes that keep to it do not overflow.
constexpr int64_t kMaxElements = int64_t{1} << 48;

// Dims of size 1 are ignored; 0 or 1 elements always are row-major.
bool IsRowMajor(const Shape& shape, const Strides& strides);

// Smallest and largest element index that a view touches, counted from the start of its storage.
// For an empty view, *first is the offset and *last one less. False when dims are negative or
// kMaxElements is exceeded.
bool ElementRange(const Shape& shape, const Strides& strides, int64_t offset, int64_t* first,
                  int64_t* last);

// Returns the same in bytes, as a half-open range. Sub-byte types must be row-major and start on a byte.
bool ByteRange(const Shape& shape, const Strides& strides, int64_t offset, DataType dataType,
               int64_t* begin, int64_t* end);

// Returns whether every element lies inside the storage that the caller described; reports what does not
// fit, calling the tensor name. Views that an executor made count from the same storage,
// temporaries are as large as they need to be.
bool CheckView(const aclTensor* tensor, const char* name);

}  // namespace op::internal
