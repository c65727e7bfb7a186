// SPDX-License-Identifier: Apache-2.0
// Entry of ScaledMaskedSoftmaxGrad, another type of ScaledMaskedSoftmaxGradV2: a compiled kernel
// belongs to one type.
#include "scaled_masked_softmax_grad_v2/scaled_masked_softmax_grad_v2.h"

extern "C" __global__ __aicore__ void scaled_masked_softmax_grad(GM_ADDR yGrad, GM_ADDR y,
                                                                 GM_ADDR mask, GM_ADDR xGrad,
                                                                 GM_ADDR workspace,
                                                                 GM_ADDR tiling) {
  REGISTER_TILING_DEFAULT(ScaledMaskedSoftmaxGradV2TilingData);
  GET_TILING_DATA_WITH_STRUCT(ScaledMaskedSoftmaxGradV2TilingData, tilingData, tiling);
  scaledmaskedsoftmaxgradv2::RunByKey<DTYPE_Y>(yGrad, y, mask, xGrad, tilingData);
}
