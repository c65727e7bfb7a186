// SPDX-License-Identifier: Apache-2.0
// Entry of LogSoftmaxGrad: one path per tiling key, see log_softmax_grad.h.
#include "log_softmax_grad/log_softmax_grad.h"

extern "C" __global__ __aicore__ void log_softmax_grad(GM_ADDR grad, GM_ADDR x, GM_ADDR y,
                                                       GM_ADDR workspace, GM_ADDR tiling) {
#if !OP_KERNEL_WHOLE_BLOCKS_ONLY
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
  KERNEL_TASK_TYPE(2, KERNEL_TYPE_MIX_AIV_1_0);
  KERNEL_TASK_TYPE(4, KERNEL_TYPE_MIX_AIV_1_0);
#endif
  REGISTER_TILING_DEFAULT(RowReduceTilingData);
  GET_TILING_DATA_WITH_STRUCT(RowReduceTilingData, tilingData, tiling);
  if (TILING_KEY_IS(1)) {
    rowreduce::RunRows<DTYPE_GRAD, logsoftmaxgrad::Step>(x, grad, y, tilingData);
  } else if (TILING_KEY_IS(2)) {
    rowreduce::RunChunked<DTYPE_GRAD, logsoftmaxgrad::Step, true>(x, grad, y, workspace,
                                                                  tilingData);
  } else if (TILING_KEY_IS(3)) {
    rowreduce::RunSlabs<DTYPE_GRAD, logsoftmaxgrad::Step>(x, grad, y, tilingData);
  } else if (TILING_KEY_IS(4)) {
    rowreduce::RunChunked<DTYPE_GRAD, logsoftmaxgrad::Step, false>(x, grad, y, workspace,
                                                                   tilingData);
  } else if (TILING_KEY_IS(5)) {
    rowreduce::RunShort<DTYPE_GRAD, logsoftmaxgrad::Step>(x, grad, y, tilingData);
  } else if (TILING_KEY_IS(6)) {
    rowreduce::RunPacked<DTYPE_GRAD, logsoftmaxgrad::Step>(x, grad, y, tilingData);
  } else if (TILING_KEY_IS(7)) {
    rowreduce::RunRegisters<DTYPE_GRAD, logsoftmaxgrad::Step>(x, grad, y, tilingData);
  } else if (TILING_KEY_IS(8)) {
    rowreduce::RunInterleaved<DTYPE_GRAD, logsoftmaxgrad::Step>(x, grad, y, tilingData);
  }
}
