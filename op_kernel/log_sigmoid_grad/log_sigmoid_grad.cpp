// SPDX-License-Identifier: Apache-2.0
// Entry of LogSigmoidGrad, see log_sigmoid_grad.h.
#include "log_sigmoid_grad/log_sigmoid_grad.h"

extern "C" __global__ __aicore__ void log_sigmoid_grad(GM_ADDR grads, GM_ADDR features,
                                                       GM_ADDR backprops, GM_ADDR workspace,
                                                       GM_ADDR tiling) {
  REGISTER_TILING_DEFAULT(ElementwiseTilingData);
  GET_TILING_DATA_WITH_STRUCT(ElementwiseTilingData, tilingData, tiling);
  if (TILING_KEY_IS(ELEMENTWISE_FULL_LOAD)) {
    elementwise::Run<DTYPE_GRADS>({grads, features}, backprops, tilingData, logsigmoidgrad::Step());
  }
}
