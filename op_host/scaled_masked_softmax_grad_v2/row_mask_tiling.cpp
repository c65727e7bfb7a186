// SPDX-License-Identifier: Apache-2.0
// MakeRowMask knows the four ways to broadcast [1 or B, 1 or N, S1, S2] to [B, N, S1, S2].
#include "scaled_masked_softmax_grad_v2/row_mask_tiling.h"

namespace optiling {
namespace {

std::string ShapeText(const std::vector<int64_t>& dims) {
  std::string text = "[";
  for (const int64_t dim : dims) {
    text += (text.size() > 1 ? ", " : "") + std::to_string(dim);
  }
  return text + "]";
}

}  // namespace

std::string MakeRowMask(const std::vector<int64_t>& dims, const std::vector<int64_t>& maskDims,
                        RowMaskTilingData* mask) {
  if (dims.size() != 4) {
    return "yGrad has shape " + ShapeText(dims) + ", wanted four dims";
  }
  bool fits = maskDims.size() == 4;
  for (size_t i = 0; fits && i < dims.size(); ++i) {
    fits = maskDims[i] == dims[i] || (i < 2 && maskDims[i] == 1);
  }
  if (!fits) {
    return "mask has shape " + ShapeText(maskDims) + ", wanted that of yGrad, " + ShapeText(dims) +
           ", where the first two dims may be 1";
  }
  const bool everyBatch = maskDims[0] == dims[0];
  const bool everyHead = maskDims[1] == dims[1];
  const int64_t total = dims[0] * dims[1] * dims[2];
  mask->rows = maskDims[0] * maskDims[1] * maskDims[2];
  if (everyHead) {
    mask->run = everyBatch ? total : dims[1] * dims[2];
    mask->period = total;
    mask->step = 0;
  } else {
    mask->run = dims[2];
    mask->period = everyBatch ? dims[1] * dims[2] : total;
    mask->step = everyBatch ? dims[2] : 0;
  }
  return {};
}

}  // namespace optiling
