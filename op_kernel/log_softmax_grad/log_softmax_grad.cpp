// SPDX-License-Identifier: Apache-2.0
// y[a, r, b] = g - exp(x) * sum_r(g)     on a view [A, R, B]; x = the log-softmax, g = grad
//
// Order of additions, rounding and layouts are those of softmax_grad (softmax_grad.cpp). A sum needs
// g alone, so where UB does not hold an axis only g is read twice: GM traffic / floor is at most
// 1.33 then. NaN and Inf follow IEEE through the formula as written: exp(x) = Inf times a sum of 0
// is NaN. Error against float64: 1 ulp of fp16 and bf16; fp32 4 ulp of the largest |g| and
// exp(x) * sum |g| of its row.
#include "common/row_reduce_layouts.h"

namespace logsoftmaxgrad {

struct Step {
  static constexpr bool kSumOfG = true;

  __aicore__ inline void Prepare(const AscendC::LocalTensor<float>&,
                                 const AscendC::LocalTensor<float>& y, uint32_t count) const {
    AscendC::Exp(y, y, static_cast<int32_t>(count));
  }
  __aicore__ inline void Combine(const AscendC::LocalTensor<float>& dst,
                                 const AscendC::LocalTensor<float>& f,
                                 const AscendC::LocalTensor<float>& sy, uint32_t count) const {
    AscendC::Sub(dst, f, sy, static_cast<int32_t>(count));
  }
#if OP_KERNEL_REGISTERS
  using Lanes = rowreduce::Lanes;

  __aicore__ inline static void Prepare(Lanes&, Lanes& y, rowreduce::LaneMask& mask) {
    AscendC::MicroAPI::Exp(y, y, mask);
  }
  __aicore__ inline static void Combine(Lanes& dst, Lanes& f, Lanes& sy,
                                        rowreduce::LaneMask& mask) {
    AscendC::MicroAPI::Sub(dst, f, sy, mask);
  }
#endif
};

}  // namespace logsoftmaxgrad

extern "C" __global__ __aicore__ void log_softmax_grad(GM_ADDR grad, GM_ADDR x, GM_ADDR y,
                                                       GM_ADDR workspace, GM_ADDR tiling) {
#if !OP_KERNEL_WHOLE_BLOCKS_ONLY
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
  KERNEL_TASK_TYPE(ROW_REDUCE_SHARED_ROWS, KERNEL_TYPE_MIX_AIV_1_0);
  KERNEL_TASK_TYPE(ROW_REDUCE_SHARED_COLUMNS, KERNEL_TYPE_MIX_AIV_1_0);
#endif
  REGISTER_TILING_DEFAULT(RowReduceTilingData);
  GET_TILING_DATA_WITH_STRUCT(RowReduceTilingData, t, tiling);
  rowreduce::RunByKey<DTYPE_GRAD, logsoftmaxgrad::Step>(x, grad, y, workspace, t);
}
