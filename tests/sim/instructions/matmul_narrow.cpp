// SPDX-License-Identifier: Apache-2.0
// Products of elements of 4 bits, and of 4:2 sparse matrices: by Matmul, each core a part of M and N, and by MmadWithSparse. Words behind the
// tiling say what is done; test_matmul_narrow.py has their order.
#define ASCENDC_CUBE_ONLY
#include "lib/matmul_intf.h"

#include "kernel_operator.h"

using namespace AscendC;

namespace {

constexpr int kRows = 16;

struct Told {
  int32_t transB, bias, quantLow, quantHigh, indexed, transposed;
};

template <typename A, typename B, typename C, const auto& config>
class Product {
  static constexpr bool kSparse = std::is_same_v<typename A::T, int8_t>;
  static constexpr int kDropped = kSparse ? 2 : 1;

 public:
  void Run(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR bias, GM_ADDR index, GM_ADDR words) {
    const TCubeTiling t = *reinterpret_cast<__gm__ TCubeTiling*>(words);
    const Told told = *reinterpret_cast<__gm__ Told*>(words + sizeof(TCubeTiling));
    TPipe pipe;
    Matmul<A, B, C, MatmulType<TPosition::GM, CubeFormat::ND, int32_t>, config> object;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), object, &t);
    const auto core = static_cast<int>(GetBlockIdx());
    if (core >= t.usedCoreNum) {
      return;
    }
    const int inM = DivCeil(t.M, t.singleCoreM);
    const int row = core % inM * t.singleCoreM, column = core / inM * t.singleCoreN;
    const int k = t.Ka, ofB = t.Kb / kDropped;
    GlobalTensor<typename A::T> left;
    GlobalTensor<typename B::T> right;
    GlobalTensor<typename C::T> out;
    GlobalTensor<int32_t> of;
    left.SetGlobalBuffer(reinterpret_cast<__gm__ typename A::T*>(a));
    right.SetGlobalBuffer(reinterpret_cast<__gm__ typename B::T*>(b));
    out.SetGlobalBuffer(reinterpret_cast<__gm__ typename C::T*>(c));
    of.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(bias));
    object.SetTail(Std::min(t.M - row, t.singleCoreM), Std::min(t.N - column, t.singleCoreN));
    constexpr int kC0 = 64;
    const bool trans = told.transB != 0;
    if constexpr (A::format == CubeFormat::NZ) {
      object.SetTensorA(left[uint64_t(row * kC0)]);
      object.SetTensorB(
          trans ? right[uint64_t(column * kC0)] : right[uint64_t(column * AlignUp(t.Kb, kRows))],
          trans);
    } else {
      object.SetTensorA(left[uint64_t(row * k)]);
      object.SetTensorB(right[uint64_t(trans ? column * ofB : column)], trans);
    }
    if (told.bias != 0) {
      object.SetBias(of[uint64_t(column)]);
    }
    if constexpr (std::is_same_v<typename C::T, half>) {
      object.SetQuantScalar(uint64_t(uint32_t(told.quantHigh)) << 32 | uint32_t(told.quantLow));
    }
    if constexpr (kSparse) {
      GlobalTensor<uint8_t> which;
      which.SetGlobalBuffer(index);
      if (told.indexed != 0) {
        object.SetSparseIndex(which[uint64_t(column * 8)]);
      }
    }
    object.IterateAll(out[uint64_t(row * t.N + column)]);
    object.End();
  }
};

template <CubeFormat format, bool isTrans>
using Int4 = MatmulType<TPosition::GM, format, int4b_t, isTrans>;
template <typename T>
using Out = MatmulType<TPosition::GM, CubeFormat::ND, T>;
using Left = MatmulType<TPosition::GM, CubeFormat::ND, int8_t>;
using Sparse = SparseMatmulType<TPosition::GM, TPosition::GM, CubeFormat::ND, int8_t, true>;

}  // namespace

#define PRODUCT(name, A, B, T, config)                                                      \
  extern "C" __global__ __aicore__ void name(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR bias, \
                                             GM_ADDR index, GM_ADDR words) {                \
    Product<A, B, Out<T>, config>().Run(a, b, c, bias, index, words);                       \
  }

using InNd = Int4<CubeFormat::ND, false>;
using InNdTurned = Int4<CubeFormat::ND, true>;
using InNz = Int4<CubeFormat::NZ, false>;
using InNzTurned = Int4<CubeFormat::NZ, true>;
PRODUCT(int4_int32, InNd, InNdTurned, int32_t, CFG_NORM)
PRODUCT(int4_half, InNd, InNdTurned, half, CFG_MDL)
PRODUCT(int4_nz, InNz, InNzTurned, int32_t, CFG_NORM)
PRODUCT(sparse, Left, Sparse, int32_t, CFG_MDL)

// One product of M x K and K / 2 x N, whole fractals in GM, with the page's instructions. words: M, N, K, and what is left out.
extern "C" __global__ __aicore__ void by_instructions(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR,
                                                      GM_ADDR index, GM_ADDR words) {
  const auto* told = reinterpret_cast<__gm__ int32_t*>(words);
  const auto m = static_cast<uint32_t>(told[0]), n = static_cast<uint32_t>(told[1]),
             k = static_cast<uint32_t>(told[2]);
  const int without = told[3];  // 1: the index, 2: MTE1_M, 3: kDirectionAlign is set, 4: a row of A
  constexpr uint32_t kC0 = 32, kFractal = 512, kIndex = 128;
  const uint32_t m1 = DivCeil(m, 16u), n1 = DivCeil(n, 16u), k1 = DivCeil(k, kC0),
                 kB = DivCeil(k / 2, kC0);
  const uint32_t bytesA = m1 * k1 * kFractal, bytesB = n1 * kB * kFractal;
  GlobalTensor<int8_t> left, right;
  GlobalTensor<uint8_t> which;
  GlobalTensor<int32_t> out;
  left.SetGlobalBuffer(reinterpret_cast<__gm__ int8_t*>(a), bytesA);
  right.SetGlobalBuffer(reinterpret_cast<__gm__ int8_t*>(b), bytesB);
  which.SetGlobalBuffer(index, bytesB / 4);
  out.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(c), uint64_t(m) * n);
  LocalTensor<int8_t> a1(TPosition::A1, 0, bytesA), b1(TPosition::B1, 131072, bytesB),
      a2(TPosition::A2, 0, bytesA), b2(TPosition::B2, 0, bytesB);
  LocalTensor<uint8_t> i1(TPosition::B1, 262144, n1 * kB * kIndex);
  LocalTensor<int32_t> sums(TPosition::CO1, 0, m1 * n1 * 256);
  DataCopy(a1, left, bytesA);
  DataCopy(b1, right, bytesB);
  DataCopy(i1, which, n1 * kB * kIndex);
  SetFlag<HardEvent::MTE2_MTE1>(0);
  WaitFlag<HardEvent::MTE2_MTE1>(0);
  for (uint32_t i = 0; i < m1; ++i) {
    LoadData(
        a2[i * k1 * kFractal], a1[i * kFractal],
        LoadData2DParams(0, static_cast<uint8_t>(k1), static_cast<uint16_t>(m1), 0, 0, false, 0));
  }
  LoadData2DParams all;
  all.repeatTimes = static_cast<uint8_t>(n1 * kB);
  if (without == 1) {
    all.srcStride = 1;
    LoadData(b2, b1, all);
  } else {
    LoadDataWithSparse(b2, b1, i1, all);
  }
  if (without != 2) {
    SetFlag<HardEvent::MTE1_M>(0);
    WaitFlag<HardEvent::MTE1_M>(0);
  }
  MmadParams p;
  p.m = static_cast<uint16_t>(m), p.n = static_cast<uint16_t>(n), p.k = static_cast<uint16_t>(k);
  p.kDirectionAlign = without == 3;
  MmadWithSparse(sums, a2, b2, p);
  SetFlag<HardEvent::M_FIX>(0);
  WaitFlag<HardEvent::M_FIX>(0);
  FixpipeParamsV220 drain;
  drain.nSize = static_cast<uint16_t>(n), drain.mSize = static_cast<uint16_t>(m);
  drain.srcStride = static_cast<uint16_t>(m1 * 16), drain.dstStride = n;
  Fixpipe(out, sums, drain);
  PipeBarrier<PIPE_ALL>();
}
