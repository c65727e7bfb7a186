// SPDX-License-Identifier: Apache-2.0
// Entry of KlDivLossGrad: one path per tiling key, see kl_div_loss_grad.h.
#include "kl_div_loss_grad/kl_div_loss_grad.h"

extern "C" __global__ __aicore__ void kl_div_loss_grad(GM_ADDR grad, GM_ADDR input, GM_ADDR target,
                                                       GM_ADDR y, GM_ADDR workspace,
                                                       GM_ADDR tiling) {
  REGISTER_TILING_DEFAULT(KlDivLossGradTilingData);
  GET_TILING_DATA_WITH_STRUCT(KlDivLossGradTilingData, tilingData, tiling);
  if (TILING_KEY_IS(KL_DIV_GRAD_LIKE_TARGET)) {
    kldivlossgrad::Run<DTYPE_TARGET, false>(grad, target, y, tilingData);
  } else if (TILING_KEY_IS(KL_DIV_GRAD_SCALAR)) {
    kldivlossgrad::Run<DTYPE_TARGET, true>(grad, target, y, tilingData);
  }
}
