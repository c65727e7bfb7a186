// SPDX-License-Identifier: Apache-2.0
#include "kernel_operator.h"
using namespace AscendC;

// Forward of RMS norm: y = x / rms(x) * gamma, a row at a time; gamma is copied and cast for each row.
class RmsNormForward {
 public:
  __aicore__ inline RmsNormForward(TPipe* pipe, GM_ADDR x, GM_ADDR gamma, GM_ADDR y, uint32_t rows,
                                   uint32_t cols)
      : cols_(cols) {
    const uint32_t perCore = (rows + GetBlockNum() - 1) / GetBlockNum();
    first_ = GetBlockIdx() * perCore;
    last_ = first_ + perCore < rows ? first_ + perCore : rows;
    x_.SetGlobalBuffer((__gm__ half*)x, rows * cols);
    gamma_.SetGlobalBuffer((__gm__ half*)gamma, cols);
    y_.SetGlobalBuffer((__gm__ half*)y, rows * cols);
    pipe->InitBuffer(inX_, 2, cols * sizeof(half));
    pipe->InitBuffer(inGamma_, 2, cols * sizeof(half));
    pipe->InitBuffer(outY_, 2, cols * sizeof(half));
    pipe->InitBuffer(bufX_, cols * sizeof(float));
    pipe->InitBuffer(bufG_, cols * sizeof(float));
    pipe->InitBuffer(bufW_, cols * sizeof(float));
    pipe->InitBuffer(bufS_, 64);
  }
  __aicore__ inline void Process() {
    for (uint32_t row = first_; row < last_; ++row) {
      LocalTensor<half> x = inX_.AllocTensor<half>();
      DataCopy(x, x_[row * cols_], cols_);
      inX_.EnQue(x);
      LocalTensor<half> gamma = inGamma_.AllocTensor<half>();
      DataCopy(gamma, gamma_, cols_);
      inGamma_.EnQue(gamma);
      x = inX_.DeQue<half>();
      gamma = inGamma_.DeQue<half>();
      LocalTensor<float> f = bufX_.Get<float>(), g = bufG_.Get<float>(), w = bufW_.Get<float>(),
                         s = bufS_.Get<float>();
      Cast(f, x, RoundMode::CAST_NONE, cols_);
      Cast(g, gamma, RoundMode::CAST_NONE, cols_);
      inX_.FreeTensor(x);
      inGamma_.FreeTensor(gamma);
      Mul(w, f, f, cols_);
      ReduceSum(s, w, w, cols_);
      const float rms = 1 / sqrt(s.GetValue(0) / cols_ + 1e-6f);
      Muls(f, f, rms, cols_);
      Mul(f, f, g, cols_);
      LocalTensor<half> y = outY_.AllocTensor<half>();
      Cast(y, f, RoundMode::CAST_RINT, cols_);
      outY_.EnQue(y);
      y = outY_.DeQue<half>();
      DataCopy(y_[row * cols_], y, cols_);
      outY_.FreeTensor(y);
    }
  }

 private:
  uint32_t cols_, first_, last_;
  GlobalTensor<half> x_, gamma_, y_;
  TQue<TPosition::VECIN, 1> inX_, inGamma_;
  TQue<TPosition::VECOUT, 1> outY_;
  TBuf<TPosition::VECCALC> bufX_, bufG_, bufW_, bufS_;
};

extern "C" __global__ __aicore__ void rms_norm_forward(GM_ADDR x, GM_ADDR gamma, GM_ADDR y,
                                                       uint32_t rows, uint32_t cols) {
  TPipe pipe;
  RmsNormForward(&pipe, x, gamma, y, rows, cols).Process();
}
