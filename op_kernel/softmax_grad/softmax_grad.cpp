// SPDX-License-Identifier: Apache-2.0
// Entry of SoftmaxGrad: one path per tiling key, see softmax_grad.h.
#include "softmax_grad/softmax_grad.h"

extern "C" __global__ __aicore__ void softmax_grad(GM_ADDR softmax, GM_ADDR grad_softmax,
                                                   GM_ADDR grad_x, GM_ADDR workspace,
                                                   GM_ADDR tiling) {
#if !OP_KERNEL_WHOLE_BLOCKS_ONLY
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
  KERNEL_TASK_TYPE(2, KERNEL_TYPE_MIX_AIV_1_0);
  KERNEL_TASK_TYPE(4, KERNEL_TYPE_MIX_AIV_1_0);
#endif
  REGISTER_TILING_DEFAULT(RowReduceTilingData);
  GET_TILING_DATA_WITH_STRUCT(RowReduceTilingData, tilingData, tiling);
  if (TILING_KEY_IS(1)) {
    rowreduce::RunRows<DTYPE_SOFTMAX, softmaxgrad::Step>(softmax, grad_softmax, grad_x, tilingData);
  } else if (TILING_KEY_IS(2)) {
    rowreduce::RunChunked<DTYPE_SOFTMAX, softmaxgrad::Step, true>(softmax, grad_softmax, grad_x,
                                                                  workspace, tilingData);
  } else if (TILING_KEY_IS(3)) {
    rowreduce::RunSlabs<DTYPE_SOFTMAX, softmaxgrad::Step>(softmax, grad_softmax, grad_x,
                                                          tilingData);
  } else if (TILING_KEY_IS(4)) {
    rowreduce::RunChunked<DTYPE_SOFTMAX, softmaxgrad::Step, false>(softmax, grad_softmax, grad_x,
                                                                   workspace, tilingData);
  } else if (TILING_KEY_IS(5)) {
    rowreduce::RunShort<DTYPE_SOFTMAX, softmaxgrad::Step>(softmax, grad_softmax, grad_x,
                                                          tilingData);
  } else if (TILING_KEY_IS(6)) {
    rowreduce::RunPacked<DTYPE_SOFTMAX, softmaxgrad::Step>(softmax, grad_softmax, grad_x,
                                                           tilingData);
  } else if (TILING_KEY_IS(7)) {
    rowreduce::RunRegisters<DTYPE_SOFTMAX, softmaxgrad::Step>(softmax, grad_softmax, grad_x,
                                                              tilingData);
  } else if (TILING_KEY_IS(8)) {
    rowreduce::RunInterleaved<DTYPE_SOFTMAX, softmaxgrad::Step>(softmax, grad_softmax, grad_x,
                                                                tilingData);
  }
}
