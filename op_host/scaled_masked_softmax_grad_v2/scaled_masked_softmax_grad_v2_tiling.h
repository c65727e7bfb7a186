// SPDX-License-Identifier: Apache-2.0
// This file declares what the host tells the scaled_masked_softmax_grad_v2 kernel. Host and device
// include it.
#ifndef OP_HOST_SCALED_MASKED_SOFTMAX_GRAD_V2_SCALED_MASKED_SOFTMAX_GRAD_V2_TILING_H_
#define OP_HOST_SCALED_MASKED_SOFTMAX_GRAD_V2_SCALED_MASKED_SOFTMAX_GRAD_V2_TILING_H_

#include <cstdint>

#include "common/row_reduce_data.h"

// Row r of [B * N * S1, S2] takes mask row r / period * step + r % run.
struct RowMaskTilingData {
  int64_t run;
  int64_t period;
  int64_t step;
  int64_t rows;  // rows of the mask tensor
};

struct ScaledMaskedSoftmaxGradV2TilingData {
  RowReduceTilingData rows;
  RowMaskTilingData mask;
  float scale;
  int32_t reserved;
};

#endif  // OP_HOST_SCALED_MASKED_SOFTMAX_GRAD_V2_SCALED_MASKED_SOFTMAX_GRAD_V2_TILING_H_
