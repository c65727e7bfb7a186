// SPDX-License-Identifier: Apache-2.0
#include "kernel_operator.h"
using namespace AscendC;

// L2 norm of each row of floats: y[row] = sqrt(sum(x * x)), many rows of a tile at once.
class RowNorm {
 public:
  __aicore__ inline RowNorm(TPipe* pipe, GM_ADDR x, GM_ADDR y, uint32_t rows, uint32_t cols,
                            uint32_t tile)
      : cols_(cols), tile_(tile) {
    const uint32_t perCore = (rows + GetBlockNum() - 1) / GetBlockNum();
    first_ = GetBlockIdx() * perCore;
    last_ = first_ + perCore < rows ? first_ + perCore : rows;
    x_.SetGlobalBuffer((__gm__ float*)x, rows * cols);
    y_.SetGlobalBuffer((__gm__ float*)y, rows);
    pipe->InitBuffer(inX_, 2, tile * cols * sizeof(float));
    pipe->InitBuffer(outY_, 2, (tile + 7) / 8 * 32);
  }
  __aicore__ inline void Process() {
    for (uint32_t row = first_; row < last_; row += tile_) {
      const uint32_t rows = row + tile_ < last_ ? tile_ : last_ - row;
      LocalTensor<float> x = inX_.AllocTensor<float>();
      DataCopy(x, x_[row * cols_], rows * cols_);
      inX_.EnQue(x);
      x = inX_.DeQue<float>();
      LocalTensor<float> y = outY_.AllocTensor<float>();
      Mul(x, x, x, rows * cols_);
      for (uint32_t r = 0; r < rows; ++r) {
        WholeReduceSum(y[r], x[r * cols_], cols_, 1, 1, 1, 8);
      }
      Sqrt(y, y, rows);
      inX_.FreeTensor(x);
      outY_.EnQue(y);
      y = outY_.DeQue<float>();
      DataCopyPad(y_[row], y, DataCopyExtParams{1, rows * 4, 0, 0, 0});
      outY_.FreeTensor(y);
    }
  }

 private:
  uint32_t cols_, tile_, first_, last_;
  GlobalTensor<float> x_, y_;
  TQue<TPosition::VECIN, 1> inX_;
  TQue<TPosition::VECOUT, 1> outY_;
};
extern "C" __global__ __aicore__ void row_norm(GM_ADDR x, GM_ADDR y, uint32_t rows, uint32_t cols,
                                               uint32_t tile) {
  TPipe pipe;
  RowNorm(&pipe, x, y, rows, cols, tile).Process();
}
