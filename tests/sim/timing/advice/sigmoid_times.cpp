// SPDX-License-Identifier: Apache-2.0
#include "kernel_operator.h"
using namespace AscendC;

// y = x * sigmoid(x) of 16-bit values: x is cast `casts` times, and `more` instructions come between.
class SigmoidTimes {
 public:
  __aicore__ inline SigmoidTimes(TPipe* pipe, GM_ADDR x, GM_ADDR y, uint32_t n, uint32_t tile,
                                 uint32_t depth)
      : tile_(tile) {
    const uint32_t perCore = n / GetBlockNum();
    first_ = GetBlockIdx() * perCore;
    last_ = first_ + perCore;
    x_.SetGlobalBuffer((__gm__ half*)x, n);
    y_.SetGlobalBuffer((__gm__ half*)y, n);
    pipe->InitBuffer(inX_, depth, tile * sizeof(half));
    pipe->InitBuffer(outY_, depth, tile * sizeof(half));
    pipe->InitBuffer(bufX_, tile * sizeof(float));
    pipe->InitBuffer(bufE_, tile * sizeof(float));
  }

  __aicore__ inline void Process(uint32_t casts, uint32_t more) {
    for (uint32_t at = first_; at < last_; at += tile_) {
      LocalTensor<half> x = inX_.AllocTensor<half>();
      DataCopy(x, x_[at], tile_);
      inX_.EnQue(x);
      x = inX_.DeQue<half>();
      LocalTensor<half> y = outY_.AllocTensor<half>();
      LocalTensor<float> f = bufX_.Get<float>(), e = bufE_.Get<float>();
      for (uint32_t i = 0; i < casts; ++i) {
        Cast(f, x, RoundMode::CAST_NONE, tile_);
      }
      Muls(e, f, -1.0f, tile_);
      for (uint32_t i = 0; i < more; ++i) {
        Adds(e, e, 0.0f, tile_);
        Maxs(e, e, -60.0f, tile_);
      }
      Exp(e, e, tile_);
      Adds(e, e, 1.0f, tile_);
      Div(f, f, e, tile_);
      inX_.FreeTensor(x);
      Cast(y, f, RoundMode::CAST_RINT, tile_);
      outY_.EnQue(y);
      y = outY_.DeQue<half>();
      DataCopy(y_[at], y, tile_);
      outY_.FreeTensor(y);
    }
  }

 private:
  uint32_t tile_, first_, last_;
  GlobalTensor<half> x_, y_;
  TQue<TPosition::VECIN, 1> inX_;
  TQue<TPosition::VECOUT, 1> outY_;
  TBuf<TPosition::VECCALC> bufX_, bufE_;
};

extern "C" __global__ __aicore__ void sigmoid_times(GM_ADDR x, GM_ADDR y, uint32_t n, uint32_t tile,
                                                    uint32_t depth, uint32_t casts, uint32_t more) {
  TPipe pipe;
  SigmoidTimes(&pipe, x, y, n, tile, depth).Process(casts, more);
}
