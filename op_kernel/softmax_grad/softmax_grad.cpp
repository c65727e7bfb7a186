// SPDX-License-Identifier: Apache-2.0
// Entry of SoftmaxGrad: one path per tiling key, see softmax_grad.h.
#include "softmax_grad/softmax_grad.h"

extern "C" __global__ __aicore__ void softmax_grad(GM_ADDR softmax, GM_ADDR grad_softmax,
                                                   GM_ADDR grad_x, GM_ADDR workspace,
                                                   GM_ADDR tiling) {
  REGISTER_TILING_DEFAULT(RowReduceTilingData);
  GET_TILING_DATA_WITH_STRUCT(RowReduceTilingData, tilingData, tiling);
  if (TILING_KEY_IS(1)) {
    rowreduce::RunWhole<DTYPE_SOFTMAX, softmaxgrad::Step, true>(softmax, grad_softmax, grad_x,
                                                                tilingData);
  } else if (TILING_KEY_IS(2)) {
    rowreduce::RunChunked<DTYPE_SOFTMAX, softmaxgrad::Step, true>(softmax, grad_softmax, grad_x,
                                                                  tilingData);
  } else if (TILING_KEY_IS(3)) {
    rowreduce::RunWhole<DTYPE_SOFTMAX, softmaxgrad::Step, false>(softmax, grad_softmax, grad_x,
                                                                 tilingData);
  } else if (TILING_KEY_IS(4)) {
    rowreduce::RunChunked<DTYPE_SOFTMAX, softmaxgrad::Step, false>(softmax, grad_softmax, grad_x,
                                                                   tilingData);
  } else if (TILING_KEY_IS(5)) {
    rowreduce::RunShort<DTYPE_SOFTMAX, softmaxgrad::Step>(softmax, grad_softmax, grad_x,
                                                          tilingData);
  }
}
