// SPDX-License-Identifier: Apache-2.0
// Copies between strided views in host memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace op::internal {

// Addresses are those of the views' first elements, strides count elements and may be 0 or
// negative. The views must not share memory, unless they are the same view. When dst names an
// element twice, the last one in row-major order stays.
void StridedCopy(uint8_t* dst, const std::vector<int64_t>& dstStrides, const uint8_t* src,
                 const std::vector<int64_t>& srcStrides, const std::vector<int64_t>& dims,
                 size_t elementBytes);

}  // namespace op::internal
