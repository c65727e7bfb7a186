// SPDX-License-Identifier: Apache-2.0
// c = a x b + bias by the high-level API: a part of c for each cube core.
#define ASCENDC_CUBE_ONLY
#include "kernel_operator.h"
#include "lib/matmul_intf.h"

using namespace AscendC;

class MatmulBias {
 public:
  __aicore__ inline MatmulBias(const TCubeTiling& tiling, bool transposed)
      : tiling_(tiling), transposed_(transposed) {}

  __aicore__ inline void Init(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c) {
    const int32_t down = DivCeil(tiling_.M, tiling_.singleCoreM);
    row_ = GetBlockIdx() % down * tiling_.singleCoreM;
    column_ = GetBlockIdx() / down * tiling_.singleCoreN;
    const uint64_t m = tiling_.M, n = tiling_.N, k = tiling_.Ka;
    a_.SetGlobalBuffer((__gm__ DTYPE_A*)a, m * k);
    b_.SetGlobalBuffer((__gm__ DTYPE_B*)b, k * n);
    bias_.SetGlobalBuffer((__gm__ float*)bias, n);
    c_.SetGlobalBuffer((__gm__ float*)c, m * n);
    a_ = a_[row_ * k];
    b_ = b_[transposed_ ? column_ * k : column_];
    bias_ = bias_[column_];
    c_ = c_[row_ * n + column_];
  }

  __aicore__ inline void Process() {
    const int64_t m = tiling_.M - row_, n = tiling_.N - column_;
    if (m < tiling_.singleCoreM || n < tiling_.singleCoreN) {
      matmul.SetTail(m < tiling_.singleCoreM ? m : tiling_.singleCoreM,
                     n < tiling_.singleCoreN ? n : tiling_.singleCoreN);
    }
    matmul.SetTensorA(a_);
    matmul.SetTensorB(b_, transposed_);
    matmul.SetBias(bias_);
    matmul.IterateAll(c_);
    matmul.End();
  }

  Matmul<MatmulType<TPosition::GM, CubeFormat::ND, DTYPE_A>,
         MatmulType<TPosition::GM, CubeFormat::ND, DTYPE_B, true>,
         MatmulType<TPosition::GM, CubeFormat::ND, float>,
         MatmulType<TPosition::GM, CubeFormat::ND, float>, CFG_MDL>
      matmul;

 private:
  TCubeTiling tiling_;
  bool transposed_;
  uint64_t row_, column_;
  GlobalTensor<DTYPE_A> a_;
  GlobalTensor<DTYPE_B> b_;
  GlobalTensor<float> bias_, c_;
};

extern "C" __global__ __aicore__ void matmul_bias(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c,
                                                  GM_ADDR workspace, GM_ADDR tiling) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIC_ONLY);
  GET_TILING_DATA(data, tiling);
  if (GetBlockIdx() >= data.cube.usedCoreNum) {
    return;
  }
  TPipe pipe;
  MatmulBias kernel(data.cube, data.transposeB != 0);
  REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), kernel.matmul, &data.cube);
  kernel.Init(a, b, bias, c);
  kernel.Process();
}
