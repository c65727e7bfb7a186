// SPDX-License-Identifier: Apache-2.0
// backprops = g / (1 + exp(x))      g = grads, x = features, any shape
//
// Computed as g * (z / (1 + z)) with z = exp(-max(x, -80)): no intermediate overflows, and no branch
// on the sign of x; below -80 the quotient is 1. x = -inf gives g, x = +inf gives 0 * g, NaN in
// either gives NaN; g / 2 at both zeros. Towards large x the result fades out through the denormals
// of z. fp16 and bf16 are widened to fp32 on entry and rounded once (to nearest even) on exit. Error
// against float64: 1 ulp of fp16 and bf16; fp32 4 ulp where z is normal (x < 87).
#include "common/elementwise.h"

namespace logsigmoidgrad {

using AscendC::LocalTensor;
using AscendC::PipeBarrier;

struct Step {
  static constexpr uint32_t kInputs = 2;

  __aicore__ inline void Compute(const LocalTensor<float>& dst,
                                 const LocalTensor<float> (&in)[kInputs], int32_t count) const {
    const LocalTensor<float>& g = in[0];
    const LocalTensor<float>& z = in[1];  // x on entry
    AscendC::Maxs(z, z, -80.0F, count);
    PipeBarrier<PIPE_V>();
    AscendC::Muls(z, z, -1.0F, count);
    PipeBarrier<PIPE_V>();
    AscendC::Exp(z, z, count);
    PipeBarrier<PIPE_V>();
    AscendC::Adds(dst, z, 1.0F, count);
    PipeBarrier<PIPE_V>();
    AscendC::Div(z, z, dst, count);
    PipeBarrier<PIPE_V>();
    AscendC::Mul(dst, g, z, count);
  }
};

}  // namespace logsigmoidgrad

extern "C" __global__ __aicore__ void log_sigmoid_grad(GM_ADDR grads, GM_ADDR features,
                                                       GM_ADDR backprops, GM_ADDR workspace,
                                                       GM_ADDR tiling) {
  REGISTER_TILING_DEFAULT(ElementwiseTilingData);
  GET_TILING_DATA_WITH_STRUCT(ElementwiseTilingData, tilingData, tiling);
  if (TILING_KEY_IS(ELEMENTWISE_FULL_LOAD)) {
    elementwise::Run<DTYPE_GRADS>({grads, features}, backprops, tilingData, logsigmoidgrad::Step());
  }
}
