// SPDX-License-Identifier: Apache-2.0
// xGrad[r, :] = mask[m(r), :] ? +0 : (f - y * sum(f)) * scale   with f = yGrad * y, on whole rows
//
// The sum includes masked elements, so their NaN and Inf reach the rest of the row; a masked
// element itself is +0 whatever was computed for it. Any mask byte that is not 0 masks. fp16 and
// bf16 are widened to fp32 on entry and rounded once on exit; order of additions as in
// softmax_grad.cpp. A scale of 1 costs nothing.
//
// Tiling keys are ROW_REDUCE_PADDED and ROW_REDUCE_PACKED of common/row_reduce_data.h. PACKED wants
// runs of kMaskRun mask rows or more. GM traffic / floor is 1.00 for yGrad, y and xGrad; of the
// mask at most one row for each row moves (row_mask.h).
#ifndef OP_KERNEL_SCALED_MASKED_SOFTMAX_GRAD_V2_SCALED_MASKED_SOFTMAX_GRAD_V2_H_
#define OP_KERNEL_SCALED_MASKED_SOFTMAX_GRAD_V2_SCALED_MASKED_SOFTMAX_GRAD_V2_H_

#include "scaled_masked_softmax_grad_v2/row_mask.h"
#include "scaled_masked_softmax_grad_v2/scaled_masked_softmax_grad_v2_tiling.h"

namespace scaledmaskedsoftmaxgradv2 {

struct Step {
  static constexpr bool kSumOfG = false;

  float scale;

  __aicore__ inline void Prepare(const AscendC::LocalTensor<float>& f,
                                 const AscendC::LocalTensor<float>& y, uint32_t count) const {
    AscendC::Mul(f, f, y, static_cast<int32_t>(count));
  }
  __aicore__ inline void Combine(const AscendC::LocalTensor<float>& dst,
                                 const AscendC::LocalTensor<float>& f,
                                 const AscendC::LocalTensor<float>& sy, uint32_t count) const {
    AscendC::Sub(dst, f, sy, static_cast<int32_t>(count));
    if (scale != 1.0F) {
      AscendC::PipeBarrier<PIPE_V>();
      AscendC::Muls(dst, dst, scale, static_cast<int32_t>(count));
    }
  }
};

template <typename T, bool kPacked>
__aicore__ inline void Run(GM_ADDR yGrad, GM_ADDR y, GM_ADDR mask, GM_ADDR xGrad,
                           const ScaledMaskedSoftmaxGradV2TilingData& t) {
  using Mask = RowMask<kPacked>;
  using Layout = std::conditional_t<kPacked, rowreduce::Packed<T, Step, Mask>,
                                    rowreduce::Padded<T, Step, Mask>>;
  AscendC::TPipe pipe;
  Layout layout(y, yGrad, xGrad, t.rows, Step{t.scale}, &pipe, mask, t);
  rowreduce::RunFullLoad(&pipe, layout);
}

template <typename T>
__aicore__ inline void RunByKey(GM_ADDR yGrad, GM_ADDR y, GM_ADDR mask, GM_ADDR xGrad,
                                const ScaledMaskedSoftmaxGradV2TilingData& t) {
  if (TILING_KEY_IS(ROW_REDUCE_PADDED)) {
    Run<T, false>(yGrad, y, mask, xGrad, t);
  } else if (TILING_KEY_IS(ROW_REDUCE_PACKED)) {
    Run<T, true>(yGrad, y, mask, xGrad, t);
  }
}

}  // namespace scaledmaskedsoftmaxgradv2

#endif  // OP_KERNEL_SCALED_MASKED_SOFTMAX_GRAD_V2_SCALED_MASKED_SOFTMAX_GRAD_V2_H_
