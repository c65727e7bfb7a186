// SPDX-License-Identifier: Apache-2.0
// Entry of LogSoftmaxGrad: one path per tiling key, see log_softmax_grad.h.
#include "log_softmax_grad/log_softmax_grad.h"

extern "C" __global__ __aicore__ void log_softmax_grad(GM_ADDR grad, GM_ADDR x, GM_ADDR y,
                                                       GM_ADDR workspace, GM_ADDR tiling) {
#if !OP_KERNEL_WHOLE_BLOCKS_ONLY
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
  KERNEL_TASK_TYPE(ROW_REDUCE_SHARED_ROWS, KERNEL_TYPE_MIX_AIV_1_0);
  KERNEL_TASK_TYPE(ROW_REDUCE_SHARED_COLUMNS, KERNEL_TYPE_MIX_AIV_1_0);
#endif
  REGISTER_TILING_DEFAULT(RowReduceTilingData);
  GET_TILING_DATA_WITH_STRUCT(RowReduceTilingData, t, tiling);
  using T = DTYPE_GRAD;
  using logsoftmaxgrad::Step;
  if (TILING_KEY_IS(ROW_REDUCE_PADDED)) {
    rowreduce::Run<rowreduce::Padded<T, Step>>(x, grad, y, t);
  } else if (TILING_KEY_IS(ROW_REDUCE_PACKED)) {
    rowreduce::Run<rowreduce::Packed<T, Step>>(x, grad, y, t);
  } else if (TILING_KEY_IS(ROW_REDUCE_TRANSPOSED)) {
    rowreduce::Run<rowreduce::Transposed<T, Step>>(x, grad, y, t);
  } else if (TILING_KEY_IS(ROW_REDUCE_COLUMNS)) {
    rowreduce::Run<rowreduce::Columns<T, Step>>(x, grad, y, t);
  } else if (TILING_KEY_IS(ROW_REDUCE_REGISTERS)) {
    rowreduce::Run<rowreduce::Registers<T, Step>>(x, grad, y, t);
  } else if (TILING_KEY_IS(ROW_REDUCE_SHARED_ROWS)) {
    rowreduce::RunShared<T, Step, true>(x, grad, y, workspace, t);
  } else if (TILING_KEY_IS(ROW_REDUCE_SHARED_COLUMNS)) {
    rowreduce::RunShared<T, Step, false>(x, grad, y, workspace, t);
  }
}
