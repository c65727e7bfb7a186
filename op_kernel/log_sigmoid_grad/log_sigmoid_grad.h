// SPDX-License-Identifier: Apache-2.0
// backprops = g / (1 + exp(x))      g = grads, x = features, any shape
//
// Computed as g * n / (1 + z) with z = exp(-|x|) and n = exp(min(-x, 0)): no intermediate
// overflows, and no branch on the sign of x. x = -inf gives g, x = +inf gives 0 * g, NaN in either
// gives NaN; g / 2 at both zeros. Towards large x the result fades out through the denormals of n.
// fp16 and bf16 are widened to fp32 on entry and rounded once (to nearest even) on exit. Error
// against float64: 1 ulp of fp16 and bf16; fp32 4 ulp where n is normal (x < 87).
#ifndef OP_KERNEL_LOG_SIGMOID_GRAD_LOG_SIGMOID_GRAD_H_
#define OP_KERNEL_LOG_SIGMOID_GRAD_LOG_SIGMOID_GRAD_H_

#include "common/elementwise.h"
#include "log_sigmoid_grad/log_sigmoid_grad_tiling.h"

namespace logsigmoidgrad {

using AscendC::LocalTensor;
using AscendC::PipeBarrier;

struct Step {
  static constexpr uint32_t kInputs = 2;

  __aicore__ inline void Compute(const LocalTensor<float>& dst,
                                 const LocalTensor<float> (&in)[kInputs], int32_t count) const {
    const LocalTensor<float>& g = in[0];
    const LocalTensor<float>& x = in[1];
    const LocalTensor<float>& n = dst;
    AscendC::Muls(n, x, -1.0F, count);
    PipeBarrier<PIPE_V>();
    AscendC::Min(x, x, n, count);  // -|x|
    PipeBarrier<PIPE_V>();
    AscendC::Mins(n, n, 0.0F, count);
    AscendC::Exp(x, x, count);
    PipeBarrier<PIPE_V>();
    AscendC::Exp(n, n, count);
    AscendC::Adds(x, x, 1.0F, count);
    PipeBarrier<PIPE_V>();
    AscendC::Mul(g, g, n, count);
    PipeBarrier<PIPE_V>();
    AscendC::Div(dst, g, x, count);
  }
};

template <typename T>
__aicore__ inline void Run(GM_ADDR grads, GM_ADDR features, GM_ADDR backprops,
                           const LogSigmoidGradTilingData& tiling) {
  AscendC::TPipe pipe;
  GM_ADDR inputs[Step::kInputs] = {grads, features};
  const Step step;
  elementwise::Elementwise<T, LogSigmoidGradTilingData, Step> kernel(&pipe, inputs, backprops,
                                                                     tiling, step);
  kernel.Process();
}

}  // namespace logsigmoidgrad

#endif  // OP_KERNEL_LOG_SIGMOID_GRAD_LOG_SIGMOID_GRAD_H_
