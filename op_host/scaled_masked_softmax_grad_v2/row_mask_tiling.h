// SPDX-License-Identifier: Apache-2.0
// MakeRowMask says which mask row a row takes when the mask is broadcast over the first two of four
// dims, as index arithmetic: a pure function of the two shapes.
#ifndef OP_HOST_SCALED_MASKED_SOFTMAX_GRAD_V2_ROW_MASK_TILING_H_
#define OP_HOST_SCALED_MASKED_SOFTMAX_GRAD_V2_ROW_MASK_TILING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "scaled_masked_softmax_grad_v2/scaled_masked_softmax_grad_v2_tiling.h"

namespace optiling {

// Returns an empty string, or what is wrong and what would be right. dims are positive.
std::string MakeRowMask(const std::vector<int64_t>& dims, const std::vector<int64_t>& maskDims,
                        RowMaskTilingData* mask);

}  // namespace optiling

#endif  // OP_HOST_SCALED_MASKED_SOFTMAX_GRAD_V2_ROW_MASK_TILING_H_
