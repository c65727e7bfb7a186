// SPDX-License-Identifier: Apache-2.0
// Backward of layer norm, row by row, as somebody writes it who does not know what instructions cost; and after two rounds of advice.
#include "kernel_operator.h"
using namespace AscendC;

constexpr uint32_t kCols = 1024;

// kStep: 0 as written, 1 and 2 with one and two pieces of advice applied.
template <uint32_t kStep>
class LayerNormBackward {
 public:
  static constexpr uint32_t kRows = kStep == 0 ? 1 : 4;  // of a tile
  static constexpr uint32_t kTile = kRows * kCols;

  __aicore__ inline LayerNormBackward(TPipe* pipe, GM_ADDR dy, GM_ADDR x, GM_ADDR mean,
                                      GM_ADDR rstd, GM_ADDR gamma, GM_ADDR dx, GM_ADDR dgamma,
                                      GM_ADDR dbeta, uint32_t rows) {
    const uint32_t perCore = (rows + GetBlockNum() - 1) / GetBlockNum();
    first_ = GetBlockIdx() * perCore;
    last_ = first_ + perCore < rows ? first_ + perCore : rows;
    dy_.SetGlobalBuffer((__gm__ half*)dy, rows * kCols);
    x_.SetGlobalBuffer((__gm__ half*)x, rows * kCols);
    mean_.SetGlobalBuffer((__gm__ float*)mean, rows);
    rstd_.SetGlobalBuffer((__gm__ float*)rstd, rows);
    gamma_.SetGlobalBuffer((__gm__ float*)gamma, kCols);
    dx_.SetGlobalBuffer((__gm__ half*)dx, rows * kCols);
    dgamma_.SetGlobalBuffer((__gm__ float*)dgamma, kCols);
    dbeta_.SetGlobalBuffer((__gm__ float*)dbeta, kCols);
    pipe->InitBuffer(inDy_, 2, kTile * sizeof(half));
    pipe->InitBuffer(inX_, 2, kTile * sizeof(half));
    pipe->InitBuffer(outDx_, 2, kTile * sizeof(half));
    pipe->InitBuffer(inGamma_, 1, kCols * sizeof(float));
    pipe->InitBuffer(outSums_, 1, 2 * kCols * sizeof(float));
    for (TBuf<TPosition::VECCALC>* buffer : {&bufDy_, &bufX_, &bufG_, &bufW_}) {
      pipe->InitBuffer(*buffer, kTile * sizeof(float));
    }
    pipe->InitBuffer(bufSum_, 2 * kSums * sizeof(float));
  }

  __aicore__ inline void Process() {
    LocalTensor<float> gamma = inGamma_.AllocTensor<float>();
    DataCopy(gamma, gamma_, kCols);
    inGamma_.EnQue(gamma);
    gamma = inGamma_.DeQue<float>();
    LocalTensor<float> sums = outSums_.AllocTensor<float>();
    Duplicate(sums, 0.0f, 2 * kCols);
    for (uint32_t row = first_; row < last_; row += kRows) {
      const uint32_t rows = row + kRows < last_ ? kRows : last_ - row;
      CopyIn(row, rows);
      Compute(gamma, sums, row, rows);
      CopyOut(row, rows);
    }
    inGamma_.FreeTensor(gamma);
    outSums_.EnQue(sums);
    sums = outSums_.DeQue<float>();
    SetAtomicAdd<float>();
    DataCopy(dgamma_, sums, kCols);
    DataCopy(dbeta_, sums[kCols], kCols);
    SetAtomicNone();
    outSums_.FreeTensor(sums);
  }

 private:
  __aicore__ inline void CopyIn(uint32_t row, uint32_t rows) {
    LocalTensor<half> dy = inDy_.AllocTensor<half>();
    DataCopy(dy, dy_[row * kCols], rows * kCols);
    inDy_.EnQue(dy);
    LocalTensor<half> x = inX_.AllocTensor<half>();
    DataCopy(x, x_[row * kCols], rows * kCols);
    inX_.EnQue(x);
  }

  __aicore__ inline void Compute(const LocalTensor<float>& gamma, const LocalTensor<float>& sums,
                                 uint32_t row, uint32_t rows) {
    LocalTensor<float> d = bufDy_.Get<float>(), h = bufX_.Get<float>(), g = bufG_.Get<float>(),
                       w = bufW_.Get<float>();
    LocalTensor<float> s = bufSum_.Get<float>();
    const uint32_t count = rows * kCols;
    LocalTensor<half> dy = inDy_.DeQue<half>();
    Cast(d, dy, RoundMode::CAST_NONE, count);
    inDy_.FreeTensor(dy);
    LocalTensor<half> x = inX_.DeQue<half>();
    Cast(h, x, RoundMode::CAST_NONE, count);
    inX_.FreeTensor(x);
    PipeBarrier<PIPE_V>();
    for (uint32_t r = 0; r < rows; ++r) {
      Adds(h[r * kCols], h[r * kCols], -mean_.GetValue(row + r), kCols);
    }
    PipeBarrier<PIPE_V>();
    for (uint32_t r = 0; r < rows; ++r) {
      Muls(h[r * kCols], h[r * kCols], rstd_.GetValue(row + r), kCols);
    }
    PipeBarrier<PIPE_V>();
    Mul(w, d, h, count);
    PipeBarrier<PIPE_V>();
    for (uint32_t r = 0; r < rows; ++r) {
      Add(sums, sums, w[r * kCols], kCols);
      Add(sums[kCols], sums[kCols], d[r * kCols], kCols);
      Mul(g[r * kCols], d[r * kCols], gamma, kCols);
      PipeBarrier<PIPE_V>();
    }
    Mul(w, g, h, count);
    PipeBarrier<PIPE_V>();
    Sums(s, w, w, rows);
    Sums(s[kSums], g, w, rows);
    SetFlag<HardEvent::V_S>(EVENT_ID0);
    WaitFlag<HardEvent::V_S>(EVENT_ID0);
    float ofProduct[kRows], ofG[kRows];
    for (uint32_t r = 0; r < rows; ++r) {
      ofProduct[r] = s.GetValue(r * kApart) / kCols;
      ofG[r] = s.GetValue(kSums + r * kApart) / kCols;
    }
    SetFlag<HardEvent::S_V>(EVENT_ID0);
    WaitFlag<HardEvent::S_V>(EVENT_ID0);
    for (uint32_t r = 0; r < rows; ++r) {
      Muls(h[r * kCols], h[r * kCols], ofProduct[r], kCols);
      Adds(g[r * kCols], g[r * kCols], -ofG[r], kCols);
    }
    PipeBarrier<PIPE_V>();
    Sub(g, g, h, count);
    PipeBarrier<PIPE_V>();
    for (uint32_t r = 0; r < rows; ++r) {
      Muls(g[r * kCols], g[r * kCols], rstd_.GetValue(row + r), kCols);
    }
    PipeBarrier<PIPE_V>();
    LocalTensor<half> dx = outDx_.AllocTensor<half>();
    Cast(dx, g, RoundMode::CAST_RINT, count);
    outDx_.EnQue(dx);
  }

  // The sum of each row; `work` may be the rows themselves.
  __aicore__ inline void Sums(const LocalTensor<float>& to, const LocalTensor<float>& from,
                              const LocalTensor<float>& work, uint32_t rows) {
    if constexpr (kStep < 2) {
      for (uint32_t r = 0; r < rows; ++r) {
        ReduceSum(to[r * kApart], from[r * kCols], work[r * kCols], kCols);
        PipeBarrier<PIPE_V>();
      }
    } else {
      for (uint32_t half = kCols / 2; half >= 64; half /= 2) {
        for (uint32_t r = 0; r < rows; ++r) {
          const LocalTensor<float> row = half == kCols / 2 ? from[r * kCols] : work[r * kCols];
          Add(work[r * kCols], row, row[half], half);
        }
        PipeBarrier<PIPE_V>();
      }
      WholeReduceSum(to, work, 64, rows, 1, 1, kCols / 8);
    }
  }

  __aicore__ inline void CopyOut(uint32_t row, uint32_t rows) {
    LocalTensor<half> dx = outDx_.DeQue<half>();
    DataCopy(dx_[row * kCols], dx, rows * kCols);
    outDx_.FreeTensor(dx);
  }

  static constexpr uint32_t kApart = kStep < 2 ? 8 : 1;  // floats between the sums of two rows
  static constexpr uint32_t kSums = 8 * kRows;

  uint32_t first_, last_;
  GlobalTensor<half> dy_, x_, dx_;
  GlobalTensor<float> mean_, rstd_, gamma_, dgamma_, dbeta_;
  TQue<TPosition::VECIN, 1> inDy_, inX_, inGamma_;
  TQue<TPosition::VECOUT, 1> outDx_, outSums_;
  TBuf<TPosition::VECCALC> bufDy_, bufX_, bufG_, bufW_, bufSum_;
};

extern "C" __global__ __aicore__ void layer_norm_grad(GM_ADDR dy, GM_ADDR x, GM_ADDR mean,
                                                      GM_ADDR rstd, GM_ADDR gamma, GM_ADDR dx,
                                                      GM_ADDR dgamma, GM_ADDR dbeta,
                                                      uint32_t rows) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
  TPipe pipe;
  if (TILING_KEY_IS(0)) {
    LayerNormBackward<0>(&pipe, dy, x, mean, rstd, gamma, dx, dgamma, dbeta, rows).Process();
  } else if (TILING_KEY_IS(1)) {
    LayerNormBackward<1>(&pipe, dy, x, mean, rstd, gamma, dx, dgamma, dbeta, rows).Process();
  } else if (TILING_KEY_IS(2)) {
    LayerNormBackward<2>(&pipe, dy, x, mean, rstd, gamma, dx, dgamma, dbeta, rows).Process();
  }
}
