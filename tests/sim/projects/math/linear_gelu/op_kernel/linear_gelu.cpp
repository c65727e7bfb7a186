// SPDX-License-Identifier: Apache-2.0
// y = gelu(x times the transpose of weight + bias). AICs multiply tiles into the workspace, the AIVs of each make y of them.
#include "kernel_operator.h"
#include "linear_gelu_tiling_data.h"

using namespace AscendC;

constexpr uint32_t kRows = 16;  // of a fractal, and its columns
constexpr uint32_t kTileElements = kTile * kTile;

// Flags between an AIC and its AIVs: a tile is in the workspace; it is read.
constexpr uint16_t kMade = 0, kRead = 1;

__aicore__ inline uint32_t Fractals(uint32_t size) { return (size + kRows - 1) / kRows; }

__aicore__ inline uint32_t AtMost(uint32_t size, uint32_t bound) {
  return size < bound ? size : bound;
}

// The AIC's half.
class Product {
 public:
  __aicore__ inline Product(GM_ADDR x, GM_ADDR weight, const GlobalTensor<float>& slots,
                            const LinearGeluTilingData& sizes)
      : slots_(slots), sizes_(sizes) {
    x_.SetGlobalBuffer((__gm__ DTYPE_X*)x, (uint64_t)sizes.m * sizes.k);
    weight_.SetGlobalBuffer((__gm__ DTYPE_X*)weight, (uint64_t)sizes.n * sizes.k);
    constexpr uint32_t bytes = kTileElements * sizeof(DTYPE_X);
    pipe_.InitBuffer(a1_, 2, bytes);
    pipe_.InitBuffer(b1_, 2, bytes);
    pipe_.InitBuffer(a2_, 2, bytes);
    pipe_.InitBuffer(b2_, 2, bytes);
    pipe_.InitBuffer(co1_, 2, kTileElements * sizeof(float));
  }

  __aicore__ inline void Run(uint32_t core, uint32_t cores) {
    const uint32_t across = (sizes_.n + kTile - 1) / kTile;
    const uint32_t tiles = (sizes_.m + kTile - 1) / kTile * across;
    uint32_t made = 0;
    for (uint32_t tile = core; tile < tiles; tile += cores, ++made) {
      // The AIVs have yet to read what was in this slot before.
      if (made >= kSlots) CrossCoreWaitFlag(kRead);
      OneTile(tile / across * kTile, tile % across * kTile, made % kSlots);
      CrossCoreSetFlag<2, PIPE_FIX>(kMade);
    }
    for (uint32_t left = AtMost(made, kSlots); left > 0; --left) {
      CrossCoreWaitFlag(kRead);
    }
  }

 private:
  __aicore__ inline void OneTile(uint32_t row, uint32_t column, uint32_t slot) {
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
    out.dstStride = kTile;
    Fixpipe(slots_[slot * kTileElements], sums, out);
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
  GlobalTensor<float> slots_;
  LinearGeluTilingData sizes_;
};

// An AIV's half: the upper or the lower rows of each tile.
class Activation {
 public:
  __aicore__ inline Activation(GM_ADDR bias, GM_ADDR y, const GlobalTensor<float>& slots,
                               const LinearGeluTilingData& sizes)
      : slots_(slots), sizes_(sizes) {
    bias_.SetGlobalBuffer((__gm__ float*)bias, sizes.n);
    y_.SetGlobalBuffer((__gm__ float*)y, (uint64_t)sizes.m * sizes.n);
    constexpr uint32_t bytes = kTileElements / 2 * sizeof(float);
    pipe_.InitBuffer(in_, 2, bytes);
    pipe_.InitBuffer(row_, 2, kTile * sizeof(float));
    pipe_.InitBuffer(out_, 2, bytes);
    pipe_.InitBuffer(work_, bytes);
  }

  __aicore__ inline void Run(uint32_t core, uint32_t cores) {
    const uint32_t across = (sizes_.n + kTile - 1) / kTile;
    const uint32_t tiles = (sizes_.m + kTile - 1) / kTile * across;
    uint32_t made = 0;
    for (uint32_t tile = core; tile < tiles; tile += cores, ++made) {
      const uint32_t row = tile / across * kTile, column = tile % across * kTile;
      const uint32_t m = AtMost(sizes_.m - row, kTile), upper = (m + 1) / 2;
      const uint32_t first = GetSubBlockIdx() * upper;
      const uint32_t rows = first > 0 ? m - upper : upper;
      columns_ = AtMost(sizes_.n - column, kTile);
      CrossCoreWaitFlag(kMade);
      if (rows > 0) Read(made % kSlots * kTileElements + first * kTile, column, rows);
      // The AIC waits for both, also where a tile has one row.
      CrossCoreSetFlag<2, PIPE_MTE2>(kRead);
      if (rows > 0) {
        Compute(rows);
        Write((uint64_t)(row + first) * sizes_.n + column, rows);
      }
    }
  }

 private:
  // Rows begin at blocks of UB.
  __aicore__ inline uint32_t Pitch() const { return (columns_ + 7) / 8 * 8; }

  __aicore__ inline void Read(uint32_t at, uint32_t column, uint32_t rows) {
    const uint32_t bytes = columns_ * sizeof(float);
    const DataCopyPadExtParams<float> padding(true, 0, (uint8_t)(Pitch() - columns_), 0);
    LocalTensor<float> x = in_.AllocTensor<float>(), bias = row_.AllocTensor<float>();
    DataCopyPad(x, slots_[at],
                DataCopyExtParams((uint16_t)rows, bytes, kTile * sizeof(float) - bytes, 0, 0),
                padding);
    DataCopyPad(bias, bias_[column], DataCopyExtParams(1, bytes, 0, 0, 0), padding);
    in_.EnQue(x);
    row_.EnQue(bias);
  }

  // z / (1 + exp(-1.5957691 (z + 0.044715 z^3)))
  __aicore__ inline void Compute(uint32_t rows) {
    LocalTensor<float> z = in_.DeQue<float>(), bias = row_.DeQue<float>();
    LocalTensor<float> y = out_.AllocTensor<float>(), work = work_.Get<float>();
    const uint32_t pitch = Pitch(), count = rows * pitch;
    for (uint32_t row = 0; row < rows; ++row) {
      Add(z[row * pitch], z[row * pitch], bias, pitch);
    }
    Mul(work, z, z, count);
    Muls(work, work, 0.044715f, count);
    Adds(work, work, 1.0f, count);
    Mul(work, work, z, count);
    Muls(work, work, -1.5957691f, count);
    Exp(work, work, count);
    Adds(work, work, 1.0f, count);
    Div(y, z, work, count);
    in_.FreeTensor(z);
    row_.FreeTensor(bias);
    out_.EnQue(y);
  }

  __aicore__ inline void Write(uint64_t at, uint32_t rows) {
    const uint32_t bytes = columns_ * sizeof(float);
    LocalTensor<float> y = out_.DeQue<float>();
    DataCopyPad(y_[at], y,
                DataCopyExtParams((uint16_t)rows, bytes, 0,
                                  (uint32_t)(sizes_.n * sizeof(float)) - bytes, 0));
    out_.FreeTensor(y);
  }

  TPipe pipe_;
  TQue<TPosition::VECIN, 2> in_, row_;
  TQue<TPosition::VECOUT, 2> out_;
  TBuf<TPosition::VECCALC> work_;
  GlobalTensor<float> slots_, bias_, y_;
  LinearGeluTilingData sizes_;
  uint32_t columns_ = 0;
};

extern "C" __global__ __aicore__ void linear_gelu(GM_ADDR x, GM_ADDR weight, GM_ADDR bias,
                                                  GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
  REGISTER_TILING_DEFAULT(LinearGeluTilingData);
  GET_TILING_DATA(sizes, tiling);
  const uint32_t core = GetBlockIdx() / GetSubBlockNum();
  GlobalTensor<float> slots;
  constexpr uint32_t own = kSlots * kTileElements;
  slots.SetGlobalBuffer((__gm__ float*)GetUserWorkspace(workspace) + core * own, own);
  if ASCEND_IS_AIC {
    Product(x, weight, slots, sizes).Run(core, GetBlockNum());
  }
  if ASCEND_IS_AIV {
    Activation(bias, y, slots, sizes).Run(core, GetBlockNum());
  }
}
