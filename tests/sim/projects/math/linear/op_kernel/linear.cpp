// SPDX-License-Identifier: Apache-2.0
// y = x times the transpose of weight, on cube cores: queues of the framework for L1, L0A, L0B and L0C.
#include "kernel_operator.h"
#include "linear_tiling_data.h"

using namespace AscendC;

constexpr uint32_t kTile = 64;  // of M, N and K
constexpr uint32_t kRows = 16;  // of a fractal, and its columns

__aicore__ inline uint32_t Fractals(uint32_t size) { return (size + kRows - 1) / kRows; }

__aicore__ inline uint32_t AtMost(uint32_t size, uint32_t bound) {
  return size < bound ? size : bound;
}

class Linear {
 public:
  __aicore__ inline Linear(GM_ADDR x, GM_ADDR weight, GM_ADDR y, const LinearTilingData& sizes)
      : sizes_(sizes) {
    x_.SetGlobalBuffer((__gm__ DTYPE_X*)x, (uint64_t)sizes.m * sizes.k);
    weight_.SetGlobalBuffer((__gm__ DTYPE_X*)weight, (uint64_t)sizes.n * sizes.k);
    y_.SetGlobalBuffer((__gm__ float*)y, (uint64_t)sizes.m * sizes.n);
    constexpr uint32_t bytes = kTile * kTile * sizeof(DTYPE_X);
    pipe_.InitBuffer(a1_, 2, bytes);
    pipe_.InitBuffer(b1_, 2, bytes);
    pipe_.InitBuffer(a2_, 2, bytes);
    pipe_.InitBuffer(b2_, 2, bytes);
    pipe_.InitBuffer(co1_, 2, kTile * kTile * sizeof(float));
  }

  // Tiles of y, each core its own ones.
  __aicore__ inline void Run() {
    const uint32_t across = (sizes_.n + kTile - 1) / kTile;
    const uint32_t tiles = (sizes_.m + kTile - 1) / kTile * across;
    for (uint32_t tile = GetBlockIdx(); tile < tiles; tile += GetBlockNum()) {
      OneTile(tile / across * kTile, tile % across * kTile);
    }
  }

 private:
  __aicore__ inline void OneTile(uint32_t row, uint32_t column) {
    const uint32_t m = AtMost(sizes_.m - row, kTile), n = AtMost(sizes_.n - column, kTile);
    LocalTensor<float> sums = co1_.AllocTensor<float>();
    for (uint32_t at = 0; at < sizes_.k; at += kTile) {
      const uint32_t k = AtMost(sizes_.k - at, kTile);
      ToL1(a1_, x_[(uint64_t)row * sizes_.k + at], m, k);
      ToL1(b1_, weight_[(uint64_t)column * sizes_.k + at], n, k);
      ToL0A(m, k);
      ToL0B(n, k);
      LocalTensor<DTYPE_X> a = a2_.DeQue<DTYPE_X>(), b = b2_.DeQue<DTYPE_X>();
      MmadParams mmad;
      // One row would be a vector, which lies in L0A in another way: with two, the second one is not looked at.
      mmad.m = m == 1 ? 2 : m;
      mmad.n = n;
      mmad.k = k;
      mmad.cmatrixInitVal = at == 0;
      Mmad(sums, a, b, mmad);
      PipeBarrier<PIPE_M>();  // the next one adds to the same sums
      a2_.FreeTensor(a);
      b2_.FreeTensor(b);
    }
    co1_.EnQue(sums);
    sums = co1_.DeQue<float>();
    FixpipeParamsV220 out;
    out.nSize = n;
    out.mSize = m;
    out.srcStride = Fractals(m) * kRows;
    out.dstStride = sizes_.n;
    Fixpipe(y_[(uint64_t)row * sizes_.n + column], sums, out);
    co1_.FreeTensor(sums);
  }

  template <typename Queue>
  __aicore__ inline void ToL1(Queue& queue, const GlobalTensor<DTYPE_X>& from, uint32_t rows,
                              uint32_t columns) {
    LocalTensor<DTYPE_X> to = queue.template AllocTensor<DTYPE_X>();
    DataCopy(to, from, Nd2NzParams(1, rows, columns, 0, sizes_.k, Fractals(rows) * kRows, 1, 0));
    queue.EnQue(to);
  }

  __aicore__ inline void ToL0A(uint32_t m, uint32_t k) {
    LocalTensor<DTYPE_X> from = a1_.DeQue<DTYPE_X>(), to = a2_.AllocTensor<DTYPE_X>();
    const uint32_t m1 = Fractals(m), k1 = Fractals(k);
    for (uint32_t i = 0; i < m1; ++i) {  // a row of fractals
      LoadData(to[i * k1 * kRows * kRows], from, LoadData2DParams(i, k1, m1, 0, 0, false, 0));
    }
    a2_.EnQue(to);
    a1_.FreeTensor(from);
  }

  __aicore__ inline void ToL0B(uint32_t n, uint32_t k) {
    LocalTensor<DTYPE_X> from = b1_.DeQue<DTYPE_X>(), to = b2_.AllocTensor<DTYPE_X>();
    // Fractals of weight lie in L1 as those of its transpose do in L0B.
    LoadData(to, from, LoadData2DParams(0, Fractals(n) * Fractals(k), 1, 0, 0, false, 0));
    b2_.EnQue(to);
    b1_.FreeTensor(from);
  }

  TPipe pipe_;
  TQue<TPosition::A1, 2> a1_;
  TQue<TPosition::B1, 2> b1_;
  TQue<TPosition::A2, 2> a2_;
  TQue<TPosition::B2, 2> b2_;
  TQue<TPosition::CO1, 2> co1_;
  GlobalTensor<DTYPE_X> x_, weight_;
  GlobalTensor<float> y_;
  LinearTilingData sizes_;
};

extern "C" __global__ __aicore__ void linear(GM_ADDR x, GM_ADDR weight, GM_ADDR y,
                                             GM_ADDR workspace, GM_ADDR tiling) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
  REGISTER_TILING_DEFAULT(LinearTilingData);
  GET_TILING_DATA(sizes, tiling);
  Linear(x, weight, y, sizes).Run();
}
