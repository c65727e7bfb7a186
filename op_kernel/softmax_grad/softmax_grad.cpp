// SPDX-License-Identifier: Apache-2.0
// grad_x[a, r, b] = g * y - y * sum_r(g * y)     on a view [A, R, B]; y = softmax, g = grad_softmax
//
// Every (a, b) is reduced in an order that depends on R, B and the dtype only: results do not depend
// on the number of cores or of rows in a tile. fp16 and bf16 are widened to fp32 on
// entry and rounded once (to nearest even) on exit. NaN and Inf follow IEEE through the formula as
// written. Error against float64: 1 ulp of fp16 and bf16; fp32 4 ulp of the largest |g * y| and
// |y| * sum |g * y| of its row.
//
// Tiling keys are the layouts of common/row_reduce_data.h; GM traffic / floor is 1.00 for all but shared axes, 1.00 to 1.67
// (docs/ops/softmax_grad.md). UB: common/row_reduce_data.h, one struct for each layout. Workspace of shared axes: six rounds of
// the sums of all parts.
#include "common/row_reduce_layouts.h"

namespace softmaxgrad {

struct Step {
  static constexpr bool kSumOfG = false;

  __aicore__ inline void Prepare(const AscendC::LocalTensor<float>& f,
                                 const AscendC::LocalTensor<float>& y, uint32_t count) const {
    AscendC::Mul(f, f, y, static_cast<int32_t>(count));
  }
  __aicore__ inline void Combine(const AscendC::LocalTensor<float>& dst,
                                 const AscendC::LocalTensor<float>& f,
                                 const AscendC::LocalTensor<float>& sy, uint32_t count) const {
    AscendC::Sub(dst, f, sy, static_cast<int32_t>(count));
  }
#if OP_KERNEL_REGISTERS
  using Lanes = rowreduce::Lanes;

  __aicore__ inline static void Prepare(Lanes& f, Lanes& y, rowreduce::LaneMask& mask) {
    AscendC::MicroAPI::Mul(f, f, y, mask);
  }
  __aicore__ inline static void Combine(Lanes& dst, Lanes& f, Lanes& sy,
                                        rowreduce::LaneMask& mask) {
    AscendC::MicroAPI::Sub(dst, f, sy, mask);
  }
#endif
};

}  // namespace softmaxgrad

extern "C" __global__ __aicore__ void softmax_grad(GM_ADDR softmax, GM_ADDR grad_softmax,
                                                   GM_ADDR grad_x, GM_ADDR workspace,
                                                   GM_ADDR tiling) {
#if !OP_KERNEL_WHOLE_BLOCKS_ONLY
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
  KERNEL_TASK_TYPE(ROW_REDUCE_SHARED_ROWS, KERNEL_TYPE_MIX_AIV_1_0);
  KERNEL_TASK_TYPE(ROW_REDUCE_SHARED_COLUMNS, KERNEL_TYPE_MIX_AIV_1_0);
#endif
  REGISTER_TILING_DEFAULT(RowReduceTilingData);
  GET_TILING_DATA_WITH_STRUCT(RowReduceTilingData, t, tiling);
  rowreduce::RunByKey<DTYPE_SOFTMAX, softmaxgrad::Step>(softmax, grad_softmax, grad_x, workspace,
                                                        t);
}
