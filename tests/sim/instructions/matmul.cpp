// SPDX-License-Identifier: Apache-2.0
// Products by Matmul of the high-level API, as operators write them: a tiling in GM, a part of C for each core. Words behind the tiling say
// what is done; test_matmul.py has their order.
#define ASCENDC_CUBE_ONLY
#include "lib/matmul_intf.h"

#include "kernel_operator.h"

using namespace AscendC;

namespace {

enum Way {
  kAll,
  kTiles,
  kTilesTwice,
  kDense,
  kSteps,
  kNoEnd,
  kNoA,
  kNoB,
  kTileFirst,
  kTwoObjects,
  kOneAfterTheOther,
  kOneInTheOther
};

struct Told {
  int32_t transA, transB, way, atomic, bias, quant, quantLow, quantHigh, hf32, orgKc, tailK, none;
};

template <typename A, typename B, typename C, typename Bias, const auto& config = CFG_NORM,
          template <const auto&, typename...> class Policy = Impl::Detail::MatmulPolicy>
class Product {
 public:
  using Object = Matmul<A, B, C, Bias, config, MatmulCallBackFunc<>, Policy>;
  static_assert(std::is_same_v<typename GetMmDstType<half>::Type, float> &&
                std::is_same_v<typename GetMmDstType<int8_t>::Type, int32_t>);

  void Run(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR bias, GM_ADDR quant, GM_ADDR told) {
    CopyFrom(told);
    TPipe pipe;
    Object object;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), object, &tiling_);
    Place(a, b, c, bias, quant);
    if (GetBlockIdx() >= tiling_.usedCoreNum) {
      return;
    }
    if (told_.way == kTwoObjects) {
      Object other;
      other.Init(&tiling_, &pipe);
      Describe(object);
      Describe(other);
      object.Iterate();
      object.GetTensorC(c_, 1);
      object.End();
      other.IterateAll(c_, 1);
      other.End();
      return;
    }
    if (told_.way == kOneAfterTheOther || told_.way == kOneInTheOther) {
      {
        Object other;
        other.Init(&tiling_, &pipe);
        if (told_.way == kOneInTheOther) {
          Describe(object);
          object.IterateAll(c_, 1);
        }
        Describe(other);
        other.IterateAll(c_, 1);
        if (told_.way == kOneInTheOther) {
          other.End();
          return;
        }
      }
      Describe(object);
      object.IterateAll(c_, 1);
      object.End();
      return;
    }
    Describe(object);
    Do(object);
    if (told_.way != kNoEnd) {
      object.End();
    }
  }

 private:
  void CopyFrom(GM_ADDR told) {
    const auto* words = reinterpret_cast<__gm__ int32_t*>(told);
    auto* tiling = reinterpret_cast<int32_t*>(&tiling_);
    constexpr size_t kWords = sizeof(TCubeTiling) / sizeof(int32_t);
    for (size_t i = 0; i < kWords; ++i) {
      tiling[i] = words[i];
    }
    auto* rest = reinterpret_cast<int32_t*>(&told_);
    for (size_t i = 0; i < sizeof(Told) / sizeof(int32_t); ++i) {
      rest[i] = words[kWords + i];
    }
  }

  // Sizes of a matrix in memory: NZ has whole fractals.
  template <typename Type>
  static uint64_t Elements(int rows, int columns) {
    constexpr int kC0 = 32 / int{sizeof(typename Type::T)};
    return Type::format == CubeFormat::NZ
               ? uint64_t(DivCeil(rows, 16) * 16) * uint64_t(DivCeil(columns, kC0) * kC0)
               : uint64_t(rows) * uint64_t(columns);
  }
  // Returns whether an operand's rows in memory are those of its transpose.
  template <typename Type>
  static bool LiesTurned(int32_t transposed) {
    return (transposed != 0) != (Type::format == CubeFormat::COLUMN_MAJOR);
  }
  // Where (row, column) lies.
  template <typename Type>
  static uint64_t At(int row, int column, int rows, int columns) {
    constexpr int kC0 = 32 / int{sizeof(typename Type::T)};
    return Type::format == CubeFormat::NZ
               ? uint64_t(column / kC0 * DivCeil(rows, 16) * 16 * kC0 + row * kC0)
               : uint64_t(row) * uint64_t(columns) + uint64_t(column);
  }

  void Place(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR bias, GM_ADDR quant) {
    const TCubeTiling& t = tiling_;
    const auto core = static_cast<int>(GetBlockIdx());
    const int inM = DivCeil(t.M, t.singleCoreM), inN = DivCeil(t.N, t.singleCoreN);
    const int row = core % inM * t.singleCoreM, column = core / inM % inN * t.singleCoreN;
    const int k0 = core / (inM * inN) * t.singleCoreK;
    m_ = Std::min(t.M - row, t.singleCoreM);
    n_ = Std::min(t.N - column, t.singleCoreN);
    k_ = Std::min(t.Ka - k0, t.singleCoreK);
    const bool transA = LiesTurned<A>(told_.transA), transB = LiesTurned<B>(told_.transB);
    const int rowsA = transA ? t.Ka : t.M, columnsA = transA ? t.M : t.Ka;
    const int rowsB = transB ? t.N : t.Kb, columnsB = transB ? t.Kb : t.N;
    a_.SetGlobalBuffer(reinterpret_cast<__gm__ typename A::T*>(a), Elements<A>(rowsA, columnsA));
    b_.SetGlobalBuffer(reinterpret_cast<__gm__ typename B::T*>(b), Elements<B>(rowsB, columnsB));
    a_ = a_[At<A>(transA ? k0 : row, transA ? row : k0, rowsA, columnsA)];
    b_ = b_[At<B>(transB ? column : k0, transB ? k0 : column, rowsB, columnsB)];
    c_.SetGlobalBuffer(reinterpret_cast<__gm__ typename C::T*>(c));
    const int pitch = told_.orgKc != 0 ? told_.orgKc : t.N;
    constexpr int kUnit = C::format == CubeFormat::ND_ALIGN ? 32 / int{sizeof(typename C::T)} : 1;
    c_ = C::format == CubeFormat::NZ ? c_[uint64_t(column * DivCeil(t.M, 16) * 16 + row * 16)]
         : C::format == CubeFormat::COLUMN_MAJOR
             ? c_[uint64_t(column) * uint64_t(t.M) + uint64_t(row)]
             : c_[uint64_t(row) * uint64_t(DivCeil(pitch, kUnit) * kUnit) + uint64_t(column)];
    bias_.SetGlobalBuffer(reinterpret_cast<__gm__ typename Bias::T*>(bias));
    bias_ = bias_[uint64_t(column)];
    quant_.SetGlobalBuffer(reinterpret_cast<__gm__ uint64_t*>(quant));
    quant_ = quant_[uint64_t(column)];
  }

  void Describe(Object& object) {
    if (told_.orgKc != 0) {
      object.SetOrgShape(tiling_.M, tiling_.N, tiling_.Ka, tiling_.Kb, told_.orgKc);
    }
    object.SetTail(m_, n_, told_.tailK != 0 ? told_.tailK : k_);
    if (told_.hf32 != 0) {
      object.SetHF32(true, told_.hf32 - 1);
    }
    if (told_.way != kNoA) {
      object.SetTensorA(a_, told_.transA != 0);
    }
    if (told_.way != kNoB) {
      object.SetTensorB(b_, told_.transB != 0);
    }
    if (told_.bias != 0) {
      object.SetBias(bias_);
    }
    if (told_.quant == 1) {
      object.SetQuantScalar(uint64_t(uint32_t(told_.quantHigh)) << 32 | uint32_t(told_.quantLow));
    } else if (told_.quant == 2) {
      object.SetQuantVector(quant_);
    }
  }

  void Do(Object& object) {
    const auto atomic = static_cast<uint8_t>(told_.atomic);
    switch (told_.way) {
      case kTileFirst:
        object.GetTensorC(c_);
        return;
      case kTiles:
        while (object.Iterate()) {
          object.GetTensorC(c_, atomic);
        }
        return;
      case kTilesTwice:  // each tile goes out twice, and is added up
        while (object.Iterate()) {
          object.GetTensorC(c_, 1);
          object.GetTensorC(c_, 1);
        }
        return;
      case kDense: {
        uint64_t at = 0;
        while (object.Iterate()) {
          object.GetTensorC(c_[at], 0, true);
          at += uint64_t(tiling_.baseM) * uint64_t(tiling_.baseN);
        }
        return;
      }
      case kSteps: {  // halves of K, added up in L0C
        const int half = k_ / 2;
        for (int step = 0; step < 2; ++step) {
          object.SetSingleShape(m_, n_, step == 0 ? half : k_ - half);
          object.SetTensorA(
              told_.transA != 0 ? a_[uint64_t(step * half * tiling_.M)] : a_[uint64_t(step * half)],
              told_.transA != 0);
          object.SetTensorB(
              told_.transB != 0 ? b_[uint64_t(step * half)] : b_[uint64_t(step * half * tiling_.N)],
              told_.transB != 0);
          object.Iterate(step > 0);
        }
        object.GetTensorC(c_);
        return;
      }
      default:
        object.IterateAll(c_, atomic);
    }
  }

  TCubeTiling tiling_;
  Told told_;
  int m_ = 0, n_ = 0, k_ = 0;
  GlobalTensor<typename A::T> a_;
  GlobalTensor<typename B::T> b_;
  GlobalTensor<typename C::T> c_;
  GlobalTensor<typename Bias::T> bias_;
  GlobalTensor<uint64_t> quant_;
};

constexpr MatmulConfig kRelu = [] {
  MatmulConfig config = CFG_MDL;
  config.enableRelu = true;
  return config;
}();
constexpr MatmulConfig kPartial = [] {
  MatmulConfig config = CFG_MDL;
  config.isPartialOutput = true;
  return config;
}();
constexpr MatmulConfig kDualMaster =
    GetNormalConfig(false, false, false, BatchMode::NONE, true, IterateOrder::UNDEF,
                    ScheduleType::INNER_PRODUCT, true, true);
constexpr MatmulConfig kLongRows = GetMDLConfig(true);
constexpr MatmulConfig kWithoutBias = [] {
  MatmulConfig config = CFG_MDL;
  config.enableSetBias = false;
  return config;
}();
constexpr MatmulConfig kWithoutEnd = [] {
  MatmulConfig config = GetMMConfig<MatmulConfigMode::CONFIG_NORM>(MatmulBiasParams{false});
  config.enableEnd = false;
  return config;
}();
constexpr MatmulConfig kSplitChannels = [] {
  MatmulConfig config = CFG_NORM;
  config.isEnableChannelSplit = true;
  return config;
}();

template <CubeFormat format, typename T, bool isTrans = true>
using InGm = MatmulType<TPosition::GM, format, T, isTrans>;

}  // namespace

#define PRODUCT(name, FormatA, FormatB, FormatC, T, O, BiasT, config)                          \
  extern "C" __global__ __aicore__ void name(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR bias,    \
                                             GM_ADDR quant, GM_ADDR told) {                    \
    Product<InGm<CubeFormat::FormatA, T>, InGm<CubeFormat::FormatB, T>,                        \
            InGm<CubeFormat::FormatC, O, false>, InGm<CubeFormat::ND, BiasT, false>, config>() \
        .Run(a, b, c, bias, quant, told);                                                      \
  }

PRODUCT(half_float, ND, ND, ND, half, float, float, CFG_NORM)
PRODUCT(half_float_mdl, ND, ND, ND, half, float, half, CFG_MDL)
PRODUCT(half_half, ND, ND, ND, half, half, float, CFG_NORM)
PRODUCT(bf16_bf16, ND, ND, ND, bfloat16_t, bfloat16_t, float, CFG_NORM)
PRODUCT(bf16_of_bf16, ND, ND, ND, bfloat16_t, bfloat16_t, bfloat16_t, CFG_NORM)
PRODUCT(float_float, ND, ND, ND, float, float, float, CFG_NORM)
PRODUCT(int8_int32, ND, ND, ND, int8_t, int32_t, int32_t, CFG_NORM)
PRODUCT(int8_half, ND, ND, ND, int8_t, half, int32_t, CFG_NORM)
PRODUCT(int8_int8, ND, ND, ND, int8_t, int8_t, int32_t, CFG_NORM)
PRODUCT(half_int8, ND, ND, ND, half, int8_t, float, CFG_NORM)
PRODUCT(half_nz, NZ, NZ, ND, half, float, float, CFG_NORM)
PRODUCT(float_nz, NZ, NZ, ND, float, float, float, CFG_NORM)
PRODUCT(int8_nz, NZ, NZ, ND, int8_t, int32_t, int32_t, CFG_NORM)
PRODUCT(half_to_nz, ND, ND, NZ, half, half, float, CFG_NORM)
PRODUCT(half_to_split, ND, ND, NZ, half, float, float, kSplitChannels)
PRODUCT(half_aligned, ND, ND, ND_ALIGN, half, half, float, CFG_NORM)
PRODUCT(half_relu, ND, ND, ND, half, float, float, kRelu)
PRODUCT(half_long, ND, ND, ND, half, float, float, kLongRows)
PRODUCT(half_partial, ND, ND, ND, half, float, float, kPartial)
PRODUCT(half_dual_master, ND, ND, ND, half, float, float, kDualMaster)
#if __NPU_ARCH__ == 3510
PRODUCT(e4m3_float, ND, ND, ND, fp8_e4m3fn_t, float, float, CFG_NORM)
PRODUCT(e5m2_half, ND, ND, ND, fp8_e5m2_t, half, float, CFG_NORM)
PRODUCT(columns_half, COLUMN_MAJOR, COLUMN_MAJOR, COLUMN_MAJOR, half, float, float, CFG_NORM)
PRODUCT(columns_float, COLUMN_MAJOR, COLUMN_MAJOR, COLUMN_MAJOR, float, half, float, CFG_MDL)
PRODUCT(columns_int8, COLUMN_MAJOR, COLUMN_MAJOR, COLUMN_MAJOR, int8_t, int32_t, int32_t, CFG_NORM)
PRODUCT(columns_to_rows, COLUMN_MAJOR, ND, ND, half, float, float, CFG_NORM)
PRODUCT(rows_to_columns, ND, COLUMN_MAJOR, COLUMN_MAJOR, half, float, float, CFG_MDL)
#define PRODUCT_OF(name, A, B)                                                                    \
  extern "C" __global__ __aicore__ void name(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR bias,       \
                                             GM_ADDR quant, GM_ADDR told) {                       \
    Product<InGm<CubeFormat::ND, A>, InGm<CubeFormat::ND, B>, InGm<CubeFormat::ND, float, false>, \
            InGm<CubeFormat::ND, float, false>, CFG_MDL>()                                        \
        .Run(a, b, c, bias, quant, told);                                                         \
  }
PRODUCT_OF(e4m3_e5m2, fp8_e4m3fn_t, fp8_e5m2_t)
PRODUCT_OF(e5m2_e4m3, fp8_e5m2_t, fp8_e4m3fn_t)
#endif
PRODUCT(half_no_bias, ND, ND, ND, half, float, float, kWithoutBias)
PRODUCT(half_no_end, ND, ND, ND, half, float, float, kWithoutEnd)

// A alone says whether there are batches: B and C have the LayoutMode of one here, and there is one product.
extern "C" __global__ __aicore__ void half_normal(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR bias,
                                                  GM_ADDR quant, GM_ADDR told) {
  Product<InGm<CubeFormat::ND, half>,
          MatmulType<TPosition::GM, CubeFormat::ND, half, true, LayoutMode::NORMAL>,
          MatmulType<TPosition::GM, CubeFormat::ND, float, false, LayoutMode::NORMAL>,
          InGm<CubeFormat::ND, float, false>, CFG_MDL>()
      .Run(a, b, c, bias, quant, told);
}

// Policies: tiles on one side of the diagonal are left out; A stays in L1.
#define PRODUCT_BY(name, Policy)                                                               \
  extern "C" __global__ __aicore__ void name(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR bias,    \
                                             GM_ADDR quant, GM_ADDR told) {                    \
    Product<InGm<CubeFormat::ND, half>, InGm<CubeFormat::ND, half>,                            \
            MatmulType<TPosition::VECIN, CubeFormat::ND, float>,                               \
            InGm<CubeFormat::ND, float, false>, CFG_MDL, Impl::Detail::Policy##MatmulPolicy>() \
        .Run(a, b, c, bias, quant, told);                                                      \
  }
PRODUCT_BY(half_upper, TrianUpper)
PRODUCT_BY(half_lower, TrianLower)
PRODUCT_BY(half_nbuffer33, NBuffer33)

// A row vector, which the unit takes as it lies.
extern "C" __global__ __aicore__ void half_vector(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR bias,
                                                  GM_ADDR quant, GM_ADDR told) {
  Product<InGm<CubeFormat::VECTOR, half, false>, InGm<CubeFormat::ND, half>,
          InGm<CubeFormat::ND, float, false>, InGm<CubeFormat::ND, float, false>>()
      .Run(a, b, c, bias, quant, told);
}

// Tiles and parts that the compiler knows; the tiling at run time says the rest, or there is none: then M, N and K are the parts'.
using ConstantA = InGm<CubeFormat::ND, half, false>;
using ConstantC = InGm<CubeFormat::ND, float, false>;
constexpr MatmulApiStaticTiling kConstant =
    GetMatmulApiTiling<ConstantA, ConstantA, ConstantC, ConstantC>(
        GetMMConfig<MatmulConfigMode::CONFIG_NORM>(MatmulShapeParams{64, 96, 160, 32, 48, 32}));
static_assert(kConstant.depthA1 == 10 && kConstant.stepKa == 5 && kConstant.dbL0C == 2);
template <bool withTiling>
void RunConstant(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR told) {
  TCubeTiling tiling;
  for (size_t i = 0; i < sizeof(tiling) / sizeof(int32_t); ++i) {
    reinterpret_cast<int32_t*>(&tiling)[i] = reinterpret_cast<__gm__ int32_t*>(told)[i];
  }
  TPipe pipe;
  Matmul<ConstantA, ConstantA, ConstantC, ConstantC, kConstant> object;
  const TCubeTiling* given = withTiling ? &tiling : nullptr;
  REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), object, given);
  GlobalTensor<half> left, right;
  GlobalTensor<float> out;
  left.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(a));
  right.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(b));
  out.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(c));
  object.SetOrgShape(tiling.M, tiling.N, tiling.Ka);
  object.SetTail(tiling.M, tiling.N, tiling.Ka);
  object.SetTensorA(left);
  object.SetTensorB(right);
  object.IterateAll(out);
  object.End();
}
extern "C" __global__ __aicore__ void half_constant(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR,
                                                    GM_ADDR, GM_ADDR told) {
  RunConstant<true>(a, b, c, told);
}
extern "C" __global__ __aicore__ void half_constant_alone(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR,
                                                          GM_ADDR, GM_ADDR told) {
  RunConstant<false>(a, b, c, told);
}

// A in L1, brought there by the kernel, and C in a tensor of its own: for one core and one tile, M, N and K of at most 128.
template <TPosition place, bool ofQueue = true>
__aicore__ inline void RunInL1(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR told) {
  TCubeTiling tiling;
  for (size_t i = 0; i < sizeof(tiling) / sizeof(int32_t); ++i) {
    reinterpret_cast<int32_t*>(&tiling)[i] = reinterpret_cast<__gm__ int32_t*>(told)[i];
  }
  TPipe pipe;
  Matmul<MatmulType<place, CubeFormat::NZ, half>, MatmulType<TPosition::GM, CubeFormat::ND, half>,
         MatmulType<TPosition::CO1, CubeFormat::NZ, float>>
      object;
  REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), object, &tiling);
  TQue<place, 1> scm;
  TQue<TPosition::CO1, AscendC::Impl::QUEUE_DEPTH> sums;
  constexpr uint32_t kMost = 128;
  TBuf<place> buffer;
  if constexpr (ofQueue) {
    pipe.InitBuffer(scm, 1, kMost * kMost * sizeof(half));
  } else {
    pipe.InitBuffer(buffer, kMost * kMost * sizeof(half));
  }
  pipe.InitBuffer(sums, 1, kMost * kMost * sizeof(float));
  GlobalTensor<half> left, right;
  GlobalTensor<float> out;
  left.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(a));
  right.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(b));
  out.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(c));
  const auto m = static_cast<uint32_t>(tiling.M), n = static_cast<uint32_t>(tiling.N),
             k = static_cast<uint32_t>(tiling.Ka), rows = DivCeil(m, 16u) * 16;
  LocalTensor<half> l1;
  if constexpr (ofQueue) {
    l1 = scm.template AllocTensor<half>();
  } else {
    l1 = buffer.template Get<half>();
  }
  DataCopy(l1, left, Nd2NzParams(1, m, k, 0, k, rows, 1, 0));
  if constexpr (ofQueue) {
    scm.EnQue(l1);
    l1 = scm.template DeQue<half>();
  } else {
    const auto event = pipe.AllocEventID<HardEvent::MTE2_MTE1>();
    SetFlag<HardEvent::MTE2_MTE1>(event);
    WaitFlag<HardEvent::MTE2_MTE1>(event);
    pipe.ReleaseEventID<HardEvent::MTE2_MTE1>(event);
  }
  LocalTensor<float> tile = sums.AllocTensor<float>();
  object.SetTensorA(l1);
  object.SetTensorB(right);
  object.Iterate(false, tile);
  if constexpr (ofQueue) {
    scm.FreeTensor(l1);
  }
  sums.EnQue(tile);
  tile = sums.DeQue<float>();
  FixpipeParamsV220 p;
  p.nSize = n;
  p.mSize = m;
  p.srcStride = rows;
  p.dstStride = n;
  Fixpipe(out, tile, p);
  sums.FreeTensor(tile);
  object.End();
}
extern "C" __global__ __aicore__ void half_tscm(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR, GM_ADDR,
                                                GM_ADDR told) {
  RunInL1<TPosition::TSCM>(a, b, c, told);
}
extern "C" __global__ __aicore__ void half_a1(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR, GM_ADDR,
                                              GM_ADDR told) {
  RunInL1<TPosition::A1>(a, b, c, told);
}
extern "C" __global__ __aicore__ void half_tscm_buffer(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR,
                                                       GM_ADDR, GM_ADDR told) {
  RunInL1<TPosition::TSCM, false>(a, b, c, told);
}
static_assert(ToMatmulConfig(CFG_MDL).doMultiDataLoad && !ToMatmulConfig(CFG_NORM).doMultiDataLoad);
static_assert(ToMatmulConfig(MatmulApiStaticTiling{}).doNorm);
