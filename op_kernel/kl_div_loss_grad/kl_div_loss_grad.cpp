// SPDX-License-Identifier: Apache-2.0
// y = ((t * g) * -1) * c      t = log_target ? exp(target) : target, g = grad, any shape
//
// c is 1 for reduction none and sum, 1 / numel for mean, 1 / dim 0 for batchmean; the tiling data
// carries -c, which rounds to the same value. The values of `input` do not occur in the formula: it
// is not read. No special case for target <= 0: IEEE products throughout, so that target 0 and g >
// 0 give -0. fp16 and bf16 are widened to fp32 on entry and rounded once (to nearest even) on exit.
// Error against float64: 1 ulp of fp16 and bf16; fp32 2 ulp, 4 ulp with exp.
//
// Tiling keys (kl_div_loss_grad_tiling.h):
//   KL_DIV_GRAD_LIKE_TARGET  grad has as many elements as target
//   KL_DIV_GRAD_SCALAR       grad has one element: SCALAR reads it once, and a tile holds the target only
// Both give the same bits for the same values.
#include "common/elementwise.h"
#include "kl_div_loss_grad/kl_div_loss_grad_tiling.h"

namespace kldivlossgrad {

using AscendC::LocalTensor;
using AscendC::PipeBarrier;

template <bool kScalarGrad>
struct Step {
  static constexpr uint32_t kInputs = kScalarGrad ? 1 : 2;

  float scale;  // -c
  bool logTarget;
  float grad;  // the one element of kScalarGrad

  __aicore__ inline void Compute(const LocalTensor<float>& dst,
                                 const LocalTensor<float> (&in)[kInputs], int32_t count) const {
    const LocalTensor<float>& t = in[0];
    if (logTarget) {
      AscendC::Exp(t, t, count);
      PipeBarrier<PIPE_V>();
    }
    if constexpr (kScalarGrad) {
      AscendC::Muls(t, t, grad, count);
    } else {
      AscendC::Mul(t, t, in[1], count);
    }
    PipeBarrier<PIPE_V>();
    AscendC::Muls(dst, t, scale, count);
  }
};

template <typename T, bool kScalarGrad>
__aicore__ inline void Run(GM_ADDR grad, GM_ADDR target, GM_ADDR y,
                           const KlDivLossGradTilingData& t) {
  Step<kScalarGrad> step{t.scale, t.logTarget != 0, 0.0F};
  if constexpr (kScalarGrad) {
    step.grad = elementwise::ReadScalar<T>(grad);
    elementwise::Run<T>({target}, y, t.elements, step);
  } else {
    elementwise::Run<T>({target, grad}, y, t.elements, step);
  }
}

}  // namespace kldivlossgrad

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
