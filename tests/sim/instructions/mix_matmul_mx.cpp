// SPDX-License-Identifier: Apache-2.0
// Products of MX types that vector cores ask their AIC for: matrices and scales in GM, by parts of M and N; and in fractals in UB and TSCM, the
// whole of A and parts of N for each AIV. Words behind the tiling say what is done; test_mix_matmul_mx.py has their order.
#include "kernel_operator.h"
#include "lib/matmul_intf.h"

extern "C" __attribute__((visibility("default")))
const uint64_t aclsimKernelTypes[] = {2, 11, 1, 1, 12, 1, 2};

namespace {

using namespace AscendC;

constexpr int kRows = 16, kPair = 64;

struct Told {
  int32_t transA, transB, transScaleA, transScaleB, way, bias;
};

template <typename T>
__aicore__ inline GlobalTensor<T> At(GM_ADDR gm, int offset) {
  GlobalTensor<T> tensor;
  tensor.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(gm));
  return tensor[uint64_t(offset)];
}

template <typename A, typename B>
using Object = Matmul<A, B, MatmulType<TPosition::GM, CubeFormat::ND, float>,
                      MatmulType<TPosition::GM, CubeFormat::ND, float>, CFG_MDL,
                      MatmulCallBackFunc<>, Impl::Detail::MatmulWithScalePolicy>;

template <typename T>
class OfGm {
  using Operand = MatmulTypeWithScale<TPosition::GM, TPosition::GM, CubeFormat::ND, T, true>;

 public:
  __aicore__ inline void Run(GM_ADDR a, GM_ADDR b, GM_ADDR scaleA, GM_ADDR scaleB, GM_ADDR c,
                             GM_ADDR bias, const TCubeTiling& t, const Told& told) {
    const auto core = static_cast<int>(GetBlockIdx());
    if (core < t.usedCoreNum) {
      const int inM = DivCeil(t.M, t.singleCoreM), k = t.Ka, pairs = DivCeil(k, kPair);
      const int row = core % inM * t.singleCoreM, column = core / inM * t.singleCoreN;
      const bool transA = told.transA != 0, transB = told.transB != 0;
      const bool transScaleA = told.transScaleA != 0, transScaleB = told.transScaleB != 0;
      object.SetTail(Std::min(t.M - row, t.singleCoreM), Std::min(t.N - column, t.singleCoreN));
      object.SetTensorA(At<T>(a, transA ? row : row * k), transA);
      object.SetTensorB(At<T>(b, transB ? column * k : column), transB);
      object.SetTensorScaleA(At<fp8_e8m0_t>(scaleA, 2 * (transScaleA ? row : row * pairs)),
                             transScaleA);
      object.SetTensorScaleB(At<fp8_e8m0_t>(scaleB, 2 * (transScaleB ? column * pairs : column)),
                             transScaleB);
      if (told.bias != 0) {
        object.SetBias(At<float>(bias, column));
      }
      const auto out = At<float>(c, row * t.N + column);
      if (told.way == 1) {
        while (object.Iterate()) {
          object.GetTensorC(out);
        }
      } else {
        object.IterateAll(out);
      }
    }
    object.End();
  }

  TPipe pipe;
  Object<Operand, Operand> object;
};

// Each AIV has columns of B, in whole fractals.
template <typename T, TPosition at>
class OfFractals {
  static constexpr int kC0 = AscendC::detail::kNibbles<T> ? 64 : 32;
  static constexpr bool kInUb = at == TPosition::VECOUT;
  using Operand = MatmulTypeWithScale<at, TPosition::TSCM, CubeFormat::NZ, T, true>;

 public:
  __aicore__ inline void Run(GM_ADDR a, GM_ADDR b, GM_ADDR scaleA, GM_ADDR scaleB, GM_ADDR c,
                             GM_ADDR, const TCubeTiling& t, const Told& told) {
    const auto core = static_cast<int>(GetBlockIdx());
    if (core < t.usedCoreNum) {
      const int column = core * t.singleCoreN, n = Std::min(t.N - column, t.singleCoreN);
      const int k = t.Ka, scales = 2 * DivCeil(k, kPair);
      const bool transA = told.transA != 0, transB = told.transB != 0;
      // Rows of fractals, and columns of them.
      const int m1 = AlignUp(t.M, transA ? kC0 : kRows), ka = AlignUp(k, transA ? kRows : kC0);
      const int n1 = AlignUp(n, transB ? kRows : kC0), kb = AlignUp(k, transB ? kC0 : kRows);
      pipe.InitBuffer(a_, 1, 65536);
      pipe.InitBuffer(b_, 1, 65536);
      pipe.InitBuffer(inA_, 1, 65536);
      pipe.InitBuffer(inB_, 1, 65536);
      pipe.InitBuffer(scaleA_, 1, 8192);
      pipe.InitBuffer(scaleB_, 1, 8192);
      object.SetTail(t.M, n);
      const int ofB = transB ? column * kC0 : column * kb;
      LocalTensor<T> left, right;
      if constexpr (kInUb) {
        left = Filled(a_, At<T>(a, 0), m1 * ka), right = Filled(b_, At<T>(b, ofB), n1 * kb);
      } else {
        left = Filled(inA_, At<T>(a, 0), m1 * ka), right = Filled(inB_, At<T>(b, ofB), n1 * kb);
      }
      LocalTensor<fp8_e8m0_t> ofLeft =
          Filled(scaleA_, At<fp8_e8m0_t>(scaleA, 0), AlignUp(t.M, kRows) * scales);
      LocalTensor<fp8_e8m0_t> ofRight =
          Filled(scaleB_, At<fp8_e8m0_t>(scaleB, column * scales), AlignUp(n, kRows) * scales);
      object.SetTensorA(left, transA);
      object.SetTensorB(right, transB);
      object.SetTensorScaleA(ofLeft, false);
      object.SetTensorScaleB(ofRight, true);
      object.IterateAll(At<float>(c, column));
      if constexpr (kInUb) {
        a_.FreeTensor(left), b_.FreeTensor(right);
      } else {
        inA_.FreeTensor(left), inB_.FreeTensor(right);
      }
      scaleA_.FreeTensor(ofLeft), scaleB_.FreeTensor(ofRight);
    }
    object.End();
  }

  TPipe pipe;
  Object<Operand, Operand> object;

 private:
  template <typename Que, typename E>
  __aicore__ inline LocalTensor<E> Filled(Que& que, const GlobalTensor<E>& from, int count) {
    LocalTensor<E> x = que.template AllocTensor<E>();
    DataCopy(x, from, uint32_t(count));
    que.EnQue(x);
    return que.template DeQue<E>();
  }

  TQue<TPosition::VECOUT, 1> a_, b_;
  TSCM<TPosition::GM, 1> inA_, inB_, scaleA_, scaleB_;
};

}  // namespace

#define PRODUCT(name, Class, ...)                                                                  \
  extern "C" __global__ __aicore__ void name(GM_ADDR a, GM_ADDR b, GM_ADDR scaleA, GM_ADDR scaleB, \
                                             GM_ADDR c, GM_ADDR bias, GM_ADDR words,               \
                                             GM_ADDR workspace) {                                  \
    SetSysWorkspace(workspace);                                                                    \
    const TCubeTiling t = *reinterpret_cast<__gm__ TCubeTiling*>(words);                           \
    const Told told = *reinterpret_cast<__gm__ Told*>(words + sizeof(TCubeTiling));                \
    Class<__VA_ARGS__> product;                                                                    \
    REGIST_MATMUL_OBJ(&product.pipe, GetSysWorkSpacePtr(), product.object, &t);                    \
    product.Run(a, b, scaleA, scaleB, c, bias, t, told);                                           \
  }

PRODUCT(mix_e4m3, OfGm, fp8_e4m3fn_t)
PRODUCT(mix_e2m1, OfGm, fp4x2_e2m1_t)
PRODUCT(ub_e1m2_nz, OfFractals, fp4x2_e1m2_t, TPosition::VECOUT)
PRODUCT(ub_e5m2_nz, OfFractals, fp8_e5m2_t, TPosition::VECOUT)
PRODUCT(tscm_e1m2_nz, OfFractals, fp4x2_e1m2_t, TPosition::TSCM)
PRODUCT(tscm_e5m2_nz, OfFractals, fp8_e5m2_t, TPosition::TSCM)
