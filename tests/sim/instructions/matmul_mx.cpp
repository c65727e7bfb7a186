// SPDX-License-Identifier: Apache-2.0
// Products of MX types by Matmul, each core a part of M and N. Words behind the tiling say what is done; test_matmul_mx.py has their order.
#define ASCENDC_CUBE_ONLY
#include "lib/matmul_intf.h"

#include "kernel_operator.h"

using namespace AscendC;

namespace {

constexpr int kRows = 16, kPair = 64;

enum Way { kAll, kTiles, kNoScaleA, kNoScaleB };

struct Told {
  int32_t transA, transB, transScaleA, transScaleB, way, bias;
};

template <typename A, typename B, typename C, typename Bias, const auto& config>
class Product {
  template <typename T>
  static GlobalTensor<T> At(GM_ADDR gm, int offset) {
    GlobalTensor<T> tensor;
    tensor.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(gm));
    return tensor[uint64_t(offset)];
  }
  // Where the part of a core begins whose first row (of A) or column (of B) is `outer`: rows are `ofOuter`, or K, long.
  template <typename Type>
  static int Start(bool outerIsRow, int outer, int k) {
    constexpr int kC0 = AscendC::detail::kNibbles<typename Type::T> ? 64 : 32;
    if (Type::format == CubeFormat::NZ) {
      return outerIsRow ? outer * kC0 : outer * AlignUp(k, kRows);
    }
    return outerIsRow ? outer * k : outer;
  }
  template <typename Type>
  static int StartOfScales(bool outerIsRow, int outer, int k) {
    const int pairs = DivCeil(k, kPair);
    return 2 * (Type::scaleFormat == CubeFormat::NZ || outerIsRow ? outer * pairs : outer);
  }

 public:
  void Run(GM_ADDR a, GM_ADDR b, GM_ADDR scaleA, GM_ADDR scaleB, GM_ADDR c, GM_ADDR bias,
           GM_ADDR words) {
    const TCubeTiling t = *reinterpret_cast<__gm__ TCubeTiling*>(words);
    const Told told = *reinterpret_cast<__gm__ Told*>(words + sizeof(TCubeTiling));
    TPipe pipe;
    Matmul<A, B, C, Bias, config, MatmulCallBackFunc<>, Impl::Detail::MatmulWithScalePolicy> object;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), object, &t);
    const auto core = static_cast<int>(GetBlockIdx());
    if (core >= t.usedCoreNum) {
      return;
    }
    const int inM = DivCeil(t.M, t.singleCoreM), k = t.Ka;
    const int row = core % inM * t.singleCoreM, column = core / inM * t.singleCoreN;
    const bool transA = told.transA != 0, transB = told.transB != 0;
    const bool transScaleA = told.transScaleA != 0, transScaleB = told.transScaleB != 0;
    object.SetTail(Std::min(t.M - row, t.singleCoreM), Std::min(t.N - column, t.singleCoreN));
    object.SetTensorA(At<typename A::T>(a, Start<A>(!transA, row, k)), transA);
    object.SetTensorB(At<typename B::T>(b, Start<B>(transB, column, k)), transB);
    if (told.way != kNoScaleA) {
      object.SetTensorScaleA(At<fp8_e8m0_t>(scaleA, StartOfScales<A>(!transScaleA, row, k)),
                             transScaleA);
    }
    if (told.way != kNoScaleB) {
      object.SetTensorScaleB(At<fp8_e8m0_t>(scaleB, StartOfScales<B>(transScaleB, column, k)),
                             transScaleB);
    }
    if (told.bias != 0) {
      object.SetBias(At<typename Bias::T>(bias, column));
    }
    const auto out = At<typename C::T>(c, row * t.N + column);
    if (told.way == kTiles) {
      while (object.Iterate()) {
        object.GetTensorC(out);
      }
    } else {
      object.IterateAll(out);
    }
    object.End();
  }
};

template <CubeFormat format, typename T, CubeFormat scaleFormat = format>
using Mx = MatmulTypeWithScale<TPosition::GM, TPosition::GM, format, T, true, TPosition::GM,
                               scaleFormat, true>;
template <typename T>
using Nd = Mx<CubeFormat::ND, T>;
template <typename T>
using Nz = Mx<CubeFormat::NZ, T>;
template <typename T>
using Untold = MatmulTypeWithScale<TPosition::GM, TPosition::GM, CubeFormat::ND, T>;
template <typename T>
using Gm = MatmulType<TPosition::GM, CubeFormat::ND, T>;

}  // namespace

#define PRODUCT(name, A, B, T, Bias, config)                                                       \
  extern "C" __global__ __aicore__ void name(GM_ADDR a, GM_ADDR b, GM_ADDR scaleA, GM_ADDR scaleB, \
                                             GM_ADDR c, GM_ADDR bias, GM_ADDR words) {             \
    Product<A, B, Gm<T>, Gm<Bias>, config>().Run(a, b, scaleA, scaleB, c, bias, words);            \
  }

PRODUCT(e4m3_float, Nd<fp8_e4m3fn_t>, Nd<fp8_e4m3fn_t>, float, float, CFG_MDL)
PRODUCT(e5m2_e4m3_half, Nd<fp8_e5m2_t>, Nd<fp8_e4m3fn_t>, half, half, CFG_NORM)
PRODUCT(e2m1_float, Nd<fp4x2_e2m1_t>, Nd<fp4x2_e2m1_t>, float, float, CFG_NORM)
PRODUCT(e1m2_e2m1_bf16, Nd<fp4x2_e1m2_t>, Nd<fp4x2_e2m1_t>, bfloat16_t, float, CFG_MDL)
PRODUCT(e5m2_nz, Nz<fp8_e5m2_t>, Nz<fp8_e5m2_t>, float, float, CFG_MDL)
PRODUCT(e1m2_nz, Nz<fp4x2_e1m2_t>, Nz<fp4x2_e1m2_t>, float, float, CFG_NORM)
PRODUCT(untold, Untold<fp8_e4m3fn_t>, Untold<fp8_e4m3fn_t>, float, float, CFG_MDL)
