// SPDX-License-Identifier: Apache-2.0
#include "kernel_operator.h"
using namespace AscendC;

class GatherRows {
 public:
  __aicore__ inline GatherRows(TPipe* pipe, GM_ADDR x, GM_ADDR index, GM_ADDR y, uint32_t rows,
                               uint32_t cols)
      : cols_(cols) {
    per_ = rows / GetBlockNum();
    first_ = GetBlockIdx() * per_;
    x_.SetGlobalBuffer((__gm__ float*)x);
    index_.SetGlobalBuffer((__gm__ int32_t*)index, rows);
    y_.SetGlobalBuffer((__gm__ float*)y, rows * cols);
    pipe->InitBuffer(rows_, 2, cols * sizeof(float));
    pipe->InitBuffer(inIndex_, 1, per_ * 4);
  }
  __aicore__ inline void Process() {
    LocalTensor<int32_t> index = inIndex_.AllocTensor<int32_t>();
    DataCopy(index, index_[first_], per_);
    inIndex_.EnQue(index);
    index = inIndex_.DeQue<int32_t>();
    for (uint32_t r = 0; r < per_; ++r) {
      const uint32_t from = index.GetValue(r);
      LocalTensor<float> t = rows_.AllocTensor<float>();
      DataCopy(t, x_[from * cols_], cols_);
      rows_.EnQue(t);
      t = rows_.DeQue<float>();
      DataCopy(y_[(first_ + r) * cols_], t, cols_);
      rows_.FreeTensor(t);
    }
    inIndex_.FreeTensor(index);
  }

 private:
  uint32_t cols_, first_, per_;
  GlobalTensor<float> x_, y_;
  GlobalTensor<int32_t> index_;
  TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> rows_;
  TQue<TPosition::VECIN, 1> inIndex_;
};
extern "C" __global__ __aicore__ void gather_rows(GM_ADDR x, GM_ADDR index, GM_ADDR y,
                                                  uint32_t rows, uint32_t cols) {
  TPipe pipe;
  GatherRows(&pipe, x, index, y, rows, cols).Process();
}
