// SPDX-License-Identifier: Apache-2.0
// The host tells the scaled_masked_softmax kernel this.
#ifndef SCALED_MASKED_SOFTMAX_TILING_H
#define SCALED_MASKED_SOFTMAX_TILING_H

#include <cstdint>

struct ScaledMaskedSoftmaxTilingData {
  int64_t batch, heads, rows, columns;  // of x
  int64_t maskBatch, maskHeads;         // of the mask: as many, or 1
  int64_t rowsPerCore;                  // of each core but the last, over all matrices
  float scale;
  int32_t aboveDiagonal;  // the mask is 1 above the diagonal, whatever the tensor has
};

constexpr int64_t kSoftmaxColumns = 4096;  // at most

#endif  // SCALED_MASKED_SOFTMAX_TILING_H
