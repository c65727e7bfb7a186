// SPDX-License-Identifier: Apache-2.0
// grad_x = softmax * sum(labels, axes) - labels, with softmax = exp(log_softmax): the gradient of the cross entropy
// -sum(labels * log_softmax(x)) with respect to x. Labels may be smoothed or mixed, and need not add up to 1.
//
// Computed in fp32 and rounded once. Error against float64: 1 ulp of fp16 and bf16, 4 ulp of fp32, of the larger of
// |labels| and softmax * sum |labels|.
#include "aclgrad/row_reduce_layouts.h"

namespace crossentropy {

struct Step {
  static constexpr bool kSumOfG = true;  // the sum is that of the labels as they are

  __aicore__ inline void Prepare(const AscendC::LocalTensor<float>&,
                                 const AscendC::LocalTensor<float>& y, uint32_t count) const {
    AscendC::Exp(y, y, static_cast<int32_t>(count));
  }
  __aicore__ inline void Combine(const AscendC::LocalTensor<float>& dst,
                                 const AscendC::LocalTensor<float>& f,
                                 const AscendC::LocalTensor<float>& sy, uint32_t count) const {
    AscendC::Sub(dst, sy, f, static_cast<int32_t>(count));
  }
#if OP_KERNEL_REGISTERS
  using Lanes = rowreduce::Lanes;

  __aicore__ inline static void Prepare(Lanes&, Lanes& y, rowreduce::LaneMask& mask) {
    AscendC::MicroAPI::Exp(y, y, mask);
  }
  __aicore__ inline static void Combine(Lanes& dst, Lanes& f, Lanes& sy,
                                        rowreduce::LaneMask& mask) {
    AscendC::MicroAPI::Sub(dst, sy, f, mask);
  }
#endif
};

}  // namespace crossentropy

extern "C" __global__ __aicore__ void softmax_cross_entropy_grad(GM_ADDR log_softmax,
                                                                 GM_ADDR labels, GM_ADDR grad_x,
                                                                 GM_ADDR workspace,
                                                                 GM_ADDR tiling) {
#if !OP_KERNEL_WHOLE_BLOCKS_ONLY
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
  KERNEL_TASK_TYPE(ROW_REDUCE_SHARED_ROWS, KERNEL_TYPE_MIX_AIV_1_0);  // cores wait for each other
  KERNEL_TASK_TYPE(ROW_REDUCE_SHARED_COLUMNS, KERNEL_TYPE_MIX_AIV_1_0);
#endif
  REGISTER_TILING_DEFAULT(RowReduceTilingData);
  GET_TILING_DATA_WITH_STRUCT(RowReduceTilingData, t, tiling);
  rowreduce::RunByKey<DTYPE_LOG_SOFTMAX, crossentropy::Step>(log_softmax, labels, grad_x, workspace,
                                                             t);
}
