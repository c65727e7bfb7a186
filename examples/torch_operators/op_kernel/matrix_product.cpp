// SPDX-License-Identifier: Apache-2.0
// MatrixProduct: y[i] = a[i] x transposed b[i] on cube cores; factors of fp32, fp16 or bf16, added up in fp32.
//
// Each core takes tiles of 64 x 64 of y in turn. For each of them it walks along K:
//
//   GM --DataCopy--> L1 --LoadData--> L0A, L0B --Mmad--> L0C --Fixpipe--> GM
//
// A fractal has 16 rows of 32 bytes. With the rows of b along K, L0B has the order of L1, so no dtype is transposed.
#include "kernel_operator.h"
#include "matrix_product_tiling.h"

namespace matrixproduct {

using AscendC::GlobalTensor;
using AscendC::LocalTensor;
using AscendC::TPosition;

constexpr uint32_t kTile = kProductTile;
constexpr uint32_t kSide = 16;  // rows of a fractal

__aicore__ inline uint32_t Parts(uint32_t size, uint32_t part) { return (size + part - 1) / part; }

__aicore__ inline uint32_t AtMostATile(uint32_t size) { return size < kTile ? size : kTile; }

template <typename T>
class Kernel {
 public:
  __aicore__ inline Kernel(AscendC::TPipe* pipe, GM_ADDR a, GM_ADDR b, GM_ADDR y,
                           const MatrixProductTilingData& tiling)
      : batch_(tiling.batch), m_(tiling.m), n_(tiling.n), k_(tiling.k) {
    aGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(a), uint64_t{batch_} * m_ * k_);
    bGm_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(b), uint64_t{batch_} * n_ * k_);
    yGm_.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(y), uint64_t{batch_} * m_ * n_);
    constexpr uint32_t kElements = kTile * kTile;
    pipe->InitBuffer(a1_, 2, kElements * sizeof(T));
    pipe->InitBuffer(b1_, 2, kElements * sizeof(T));
    pipe->InitBuffer(a2_, 2, kElements * sizeof(T));
    pipe->InitBuffer(b2_, 2, kElements * sizeof(T));
    pipe->InitBuffer(c_, 2, kElements * sizeof(float));
  }

  __aicore__ inline void Process() {
    const uint32_t across = Parts(n_, kTile);
    const uint32_t each = Parts(m_, kTile) * across;
    const auto cores = static_cast<uint32_t>(AscendC::GetBlockNum());
    for (auto i = static_cast<uint32_t>(AscendC::GetBlockIdx()); i < batch_ * each; i += cores) {
      const uint32_t tile = i % each;
      TileOfY(i / each, tile / across * kTile, tile % across * kTile);
    }
  }

 private:
  static constexpr uint32_t kColumns = 32 / sizeof(T);  // of a fractal
  static constexpr uint32_t kFractal = kSide * kColumns;

  __aicore__ inline void TileOfY(uint32_t matrix, uint32_t row, uint32_t column) {
    const uint32_t m = AtMostATile(m_ - row);
    const uint32_t n = AtMostATile(n_ - column);
    const uint64_t a = (uint64_t{matrix} * m_ + row) * k_;
    const uint64_t b = (uint64_t{matrix} * n_ + column) * k_;
    LocalTensor<float> sums = c_.template AllocTensor<float>();
    for (uint32_t at = 0; at < k_; at += kTile) {
      const uint32_t k = AtMostATile(k_ - at);
      ToL1(a1_, aGm_[a + at], m, k);
      ToL1(b1_, bGm_[b + at], n, k);
      ToL0A(m, k);
      ToL0B(n, k);
      Multiply(sums, m, n, k, at == 0);
    }
    c_.EnQue(sums);
    sums = c_.template DeQue<float>();
    AscendC::FixpipeParamsV220 out;
    out.nSize = static_cast<uint16_t>(n);
    out.mSize = static_cast<uint16_t>(m);
    out.srcStride = static_cast<uint16_t>(Parts(m, kSide) * kSide);
    out.dstStride = n_;
    AscendC::Fixpipe(yGm_[(uint64_t{matrix} * m_ + row) * n_ + column], sums, out);
    c_.FreeTensor(sums);
  }

  template <typename Queue>
  __aicore__ inline void ToL1(Queue& queue, const GlobalTensor<T>& from, uint32_t rows,
                              uint32_t columns) {
    LocalTensor<T> part = queue.template AllocTensor<T>();
    AscendC::DataCopy(
        part, from,
        AscendC::Nd2NzParams(1, static_cast<uint16_t>(rows), static_cast<uint16_t>(columns), 0,
                             static_cast<uint16_t>(k_),
                             static_cast<uint16_t>(Parts(rows, kSide) * kSide), 1, 0));
    queue.EnQue(part);
  }

  // L1 has a column of fractals after the other, L0A a row of them.
  __aicore__ inline void ToL0A(uint32_t m, uint32_t k) {
    LocalTensor<T> from = a1_.template DeQue<T>();
    LocalTensor<T> to = a2_.template AllocTensor<T>();
    const uint32_t down = Parts(m, kSide);
    const uint32_t across = Parts(k, kColumns);
    for (uint32_t i = 0; i < down; ++i) {
      AscendC::LoadData(
          to[i * across * kFractal], from,
          AscendC::LoadData2DParams(static_cast<uint16_t>(i), static_cast<uint8_t>(across),
                                    static_cast<uint16_t>(down), 0, 0, false, 0));
    }
    a2_.EnQue(to);
    a1_.FreeTensor(from);
  }

  __aicore__ inline void ToL0B(uint32_t n, uint32_t k) {
    LocalTensor<T> from = b1_.template DeQue<T>();
    LocalTensor<T> to = b2_.template AllocTensor<T>();
    const uint32_t fractals = Parts(n, kSide) * Parts(k, kColumns);
    AscendC::LoadData(
        to, from, AscendC::LoadData2DParams(0, static_cast<uint8_t>(fractals), 1, 0, 0, false, 0));
    b2_.EnQue(to);
    b1_.FreeTensor(from);
  }

  __aicore__ inline void Multiply(const LocalTensor<float>& sums, uint32_t m, uint32_t n,
                                  uint32_t k, bool first) {
    LocalTensor<T> a = a2_.template DeQue<T>();
    LocalTensor<T> b = b2_.template DeQue<T>();
    AscendC::MmadParams shape;
    // With m = 1 Mmad expects a vector, which lies in L0A in another way. The second row is not stored.
    shape.m = static_cast<uint16_t>(m == 1 ? 2 : m);
    shape.n = static_cast<uint16_t>(n);
    shape.k = static_cast<uint16_t>(k);
    shape.cmatrixInitVal = first;  // true: begin with zeros; false: add to the sums
    AscendC::Mmad(sums, a, b, shape);
    AscendC::PipeBarrier<PIPE_M>();  // the next Mmad adds to the same sums
    a2_.FreeTensor(a);
    b2_.FreeTensor(b);
  }

  const uint32_t batch_, m_, n_, k_;
  GlobalTensor<T> aGm_, bGm_;
  GlobalTensor<float> yGm_;
  AscendC::TQue<TPosition::A1, 1> a1_;
  AscendC::TQue<TPosition::B1, 1> b1_;
  AscendC::TQue<TPosition::A2, 1> a2_;
  AscendC::TQue<TPosition::B2, 1> b2_;
  AscendC::TQue<TPosition::CO1, 1> c_;
};

}  // namespace matrixproduct

extern "C" __global__ __aicore__ void matrix_product(GM_ADDR a, GM_ADDR b, GM_ADDR y,
                                                     GM_ADDR workspace, GM_ADDR tiling) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
  REGISTER_TILING_DEFAULT(MatrixProductTilingData);
  GET_TILING_DATA_WITH_STRUCT(MatrixProductTilingData, tilingData, tiling);
  if (TILING_KEY_IS(1)) {
    AscendC::TPipe pipe;
    matrixproduct::Kernel<DTYPE_A> kernel(&pipe, a, b, y, tilingData);
    kernel.Process();
  }
}
