// SPDX-License-Identifier: Apache-2.0
// c = leaky_relu(a x b + bias): each AIV asks its AIC for tiles of a part of c, which come to UB.
#include "kernel_operator.h"
#include "lib/matmul_intf.h"

using namespace AscendC;

class MatmulLeakyRelu {
 public:
  __aicore__ inline MatmulLeakyRelu(const TCubeTiling& tiling, float slope)
      : tiling_(tiling), slope_(slope) {}

  __aicore__ inline void Init(TPipe* pipe, GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c) {
    const int32_t down = DivCeil(tiling_.M, tiling_.singleCoreM);
    row_ = GetBlockIdx() % down * tiling_.singleCoreM;
    column_ = GetBlockIdx() / down * tiling_.singleCoreN;
    const uint64_t m = tiling_.M, n = tiling_.N, k = tiling_.Ka;
    a_.SetGlobalBuffer((__gm__ DTYPE_A*)a, m * k);
    b_.SetGlobalBuffer((__gm__ DTYPE_B*)b, k * n);
    bias_.SetGlobalBuffer((__gm__ float*)bias, n);
    c_.SetGlobalBuffer((__gm__ float*)c, m * n);
    a_ = a_[row_ * k];
    b_ = b_[column_];
    bias_ = bias_[column_];
    c_ = c_[row_ * n + column_];
    pipe->InitBuffer(out_, 1, tiling_.baseM * tiling_.baseN * sizeof(float));
  }

  __aicore__ inline void Process() {
    m_ = AtMost(tiling_.M - row_, tiling_.singleCoreM);
    n_ = AtMost(tiling_.N - column_, tiling_.singleCoreN);
    matmul.SetTail(m_, n_);
    matmul.SetTensorA(a_);
    matmul.SetTensorB(b_);
    matmul.SetBias(bias_);
    // Tiles come in the tiling's order: down first, or across.
    const int64_t down = DivCeil(m_, tiling_.baseM), across = DivCeil(n_, tiling_.baseN);
    for (int64_t tile = 0; matmul.template Iterate<true>(); ++tile) {
      LocalTensor<float> x = out_.AllocTensor<float>();
      matmul.template GetTensorC<true>(x, false, true);
      LeakyRelu(x, x, slope_, tiling_.baseM * tiling_.baseN);
      out_.EnQue(x);
      const bool downFirst = tiling_.iterateOrder == 0;
      CopyOut((downFirst ? tile % down : tile / across) * tiling_.baseM,
              (downFirst ? tile / down : tile % across) * tiling_.baseN);
    }
    matmul.End();
  }

  Matmul<MatmulType<TPosition::GM, CubeFormat::ND, DTYPE_A>,
         MatmulType<TPosition::GM, CubeFormat::ND, DTYPE_B>,
         MatmulType<TPosition::VECIN, CubeFormat::ND, float>,
         MatmulType<TPosition::GM, CubeFormat::ND, float>>
      matmul;

 private:
  static __aicore__ inline int64_t AtMost(int64_t size, int64_t bound) {
    return size < bound ? size : bound;
  }

  // Rows of a tile lie baseN elements apart in UB.
  __aicore__ inline void CopyOut(int64_t row, int64_t column) {
    LocalTensor<float> y = out_.DeQue<float>();
    const uint32_t bytes = AtMost(n_ - column, tiling_.baseN) * sizeof(float);
    const uint32_t blocks = (bytes + 31) / 32;
    DataCopyPad(c_[row * tiling_.N + column], y,
                DataCopyExtParams(AtMost(m_ - row, tiling_.baseM), bytes,
                                  tiling_.baseN * sizeof(float) / 32 - blocks,
                                  tiling_.N * sizeof(float) - bytes, 0));
    out_.FreeTensor(y);
  }

  TQue<TPosition::VECOUT, 1> out_;
  TCubeTiling tiling_;
  float slope_;
  int64_t row_, column_, m_, n_;
  GlobalTensor<DTYPE_A> a_;
  GlobalTensor<DTYPE_B> b_;
  GlobalTensor<float> bias_, c_;
};

extern "C" __global__ __aicore__ void matmul_leaky_relu(GM_ADDR a, GM_ADDR b, GM_ADDR bias,
                                                        GM_ADDR c, GM_ADDR workspace,
                                                        GM_ADDR tiling) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
  GET_TILING_DATA(data, tiling);
  if (data.cube.usedCoreNum == 0) {
    return;  // c is empty
  }
  TPipe pipe;
  MatmulLeakyRelu kernel(data.cube, data.negativeSlope);
  // An AIV without work registers, too: the AIC waits for the end of both.
  const TCubeTiling* __restrict cube = &data.cube;  // as kernels of ops-nn pass it
  REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), kernel.matmul, cube);
  if (GetBlockIdx() < data.cube.usedCoreNum) {
    kernel.Init(&pipe, a, b, bias, c);
    kernel.Process();
  }
}
