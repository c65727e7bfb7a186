// SPDX-License-Identifier: Apache-2.0
// The meaning of the types and the config of a Matmul, and which of them are simulated.
#pragma once

#include "ascendc/matmul_config.h"
#include "ascendc/matmul_memory.h"
#include "ascendc/matmul_sparse.h"

namespace AscendC::detail::mm {

// True if a MatmulCallBackFunc has the copy.
template <typename CopyOrNull>
constexpr bool kIsCopy = !std::is_null_pointer_v<std::remove_cv_t<CopyOrNull>>;

// A policy's kTriangle; CANN's own policies have one.
template <typename Policy, typename = void>
struct TriangleOf {
  static_assert(sizeof(Policy) == 0, "Matmul: policies of the kernel's own are not simulated");
};
template <typename Policy>
struct TriangleOf<Policy, std::void_t<decltype(Policy::kTriangle)>> {
  static constexpr Triangle value = Policy::kTriangle;
};
// The modules of CANN's policies. A policy that inherits ours and has one of them would not be asked for it.
// clang-format off
#define ACLSIM_MODULES(APPLY)                                              \
  APPLY(Context) APPLY(CubeOutBuffer) APPLY(CopyCubeOut)                   \
  APPLY(CopyCubeInA) APPLY(CopyCubeInB) APPLY(CubeInBufferA)               \
  APPLY(CubeInBufferB) APPLY(CubeInBufferScaleA) APPLY(CubeInBufferScaleB) \
  APPLY(CopyCubeInScaleA) APPLY(CopyCubeInScaleB) APPLY(Scheduler)         \
  APPLY(BatchScheduler) APPLY(BiasScheduler)
// clang-format on
#define ACLSIM_HAS_MODULE(Name)               \
  template <typename Policy, typename = void> \
  constexpr bool kHas##Name = false;          \
  template <typename Policy>                  \
  constexpr bool kHas##Name<Policy, std::void_t<typename Policy::Name>> = true;
#define ACLSIM_OR_MODULE(Name) || kHas##Name<Policy>
ACLSIM_MODULES(ACLSIM_HAS_MODULE)
template <typename Policy>
constexpr bool kHasOwnModules = false ACLSIM_MODULES(ACLSIM_OR_MODULE);
#undef ACLSIM_OR_MODULE
#undef ACLSIM_HAS_MODULE
#undef ACLSIM_MODULES

template <typename Policy, typename = void>
constexpr bool kTakesScales = false;
template <typename Policy>
constexpr bool kTakesScales<Policy, std::void_t<decltype(Policy::kTakesScales)>> =
    Policy::kTakesScales;

template <typename T>
constexpr bool kIsMxFp8 = std::is_same_v<T, fp8_e4m3fn_t> || std::is_same_v<T, fp8_e5m2_t>;
template <typename T>
constexpr bool kIsMxFp4 = std::is_same_v<T, fp4x2_e2m1_t> || std::is_same_v<T, fp4x2_e1m2_t>;

// These scales are simulated.
template <typename Type, bool isLeft, bool = kIsScaled<Type>>
struct RulesOfScales {
  static_assert(Type::scalePosition == TPosition::GM || IsL1(Type::scalePosition),
                "Matmul: scales in VECOUT are not simulated yet; they lie in GM, TSCM, A1 or B1; "
                "docs/simulator.md says what is");
  static_assert(Type::scaleFormat == CubeFormat::ND || Type::scaleFormat == CubeFormat::NZ,
                "Matmul: scales in this format are not simulated yet; they are ND or NZ");
  static_assert(!IsL1(Type::scalePosition) || Type::scaleFormat == CubeFormat::NZ,
                "Matmul: scales in TSCM, A1 or B1 are NZ");
  static_assert(Type::format == CubeFormat::ND || Type::format == CubeFormat::NZ,
                "Matmul: A of MX types in this format is not simulated yet; it is ND or NZ");
};
template <typename Type, bool isLeft>
struct RulesOfScales<Type, isLeft, false> {};

template <typename A, typename B, typename C, typename Bias, const auto& given, typename CallBack>
struct Rules {
  static constexpr bool kIsConstant =
      std::is_same_v<std::decay_t<decltype(given)>, MatmulApiStaticTiling>;
  static constexpr MatmulConfig config = ToMatmulConfig(given);
  using SrcA = typename A::T;
  using SrcB = typename B::T;
  using Dst = typename C::T;
  using BiasT = typename Bias::T;
  using Sum = SumOf<SrcA>;

  static constexpr bool kOfMx = kIsScaled<A> && kIsScaled<B>;
  static constexpr bool kOfInt4 = std::is_same_v<SrcA, int4b_t>, kOfIntegers = kIsInteger<SrcA>;
  static constexpr bool kOfFp8 =
      kOn950 && (std::is_same_v<SrcA, fp8_e4m3fn_t> || std::is_same_v<SrcA, fp8_e5m2_t> ||
                 std::is_same_v<SrcA, hifloat8_t>);
  static constexpr bool kOfFloats = std::is_same_v<SrcA, half> ||
                                    std::is_same_v<SrcA, bfloat16_t> ||
                                    std::is_same_v<SrcA, float> || kOfFp8 || kOfMx;
  static constexpr bool kTo8 = std::is_same_v<Dst, int8_t> || std::is_same_v<Dst, uint8_t>;
  static constexpr bool kQuantises = kTo8 || (kOfIntegers && std::is_same_v<Dst, half>);
  // Types of a bias that is never set mean nothing: kernels without one have whatever C has.
  static constexpr bool kTakesBias =
      std::is_same_v<BiasT, Sum> || (kOfFloats && std::is_same_v<BiasT, half>);
  static constexpr bool kOwnCo1 = C::pos == TPosition::CO1;  // the kernel has the tile in L0C
  // Copies of the kernel's own.
  static constexpr bool kCopiesOut = kIsCopy<decltype(CallBack::kCopyOut)>;
  static constexpr bool kCopiesA = kIsCopy<decltype(CallBack::kCopyA1)>;
  static constexpr bool kCopiesB = kIsCopy<decltype(CallBack::kCopyB1)>;
  static constexpr bool kIsBatch = A::layout != LayoutMode::NONE;
  static constexpr bool kOfSparse = kIsSparse<B>;
  static constexpr bool kHasColumnMajor =
      kIsColumnMajor<A> || kIsColumnMajor<B> || kIsColumnMajor<C>;

  static_assert(!kIsSparse<A>, "Matmul: SparseMatmulType is of B");
  static_assert(!kOfSparse || (std::is_same_v<SrcB, int8_t> && B::isTrans && !kOn950),
                "Matmul: B of SparseMatmulType is transposed, of int8_t, on Atlas A2 and A3");
  static_assert(!kOfSparse || (B::pos == TPosition::GM && B::format == CubeFormat::ND &&
                               kIndexPosition<B> == TPosition::GM),
                "Matmul: B of SparseMatmulType and its index lie in GM, and B is ND; other ways "
                "are not simulated yet");
  static_assert(!kOfSparse || config.doMultiDataLoad,
                "Matmul: SparseMatmulType is of the MDL template (CFG_MDL)");
  static_assert(!kOfSparse || (!kIsBatch && !kCopiesA && !kCopiesB),
                "Matmul: SparseMatmulType in batches or with copies of the kernel's own does not "
                "exist");
  static_assert(kIsScaled<A> == kIsScaled<B>,
                "Matmul: A and B both have scales (MatmulTypeWithScale), or neither has");
  static_assert(kOfMx || std::is_same_v<SrcA, SrcB> || (kOn950 && kIsMxFp8<SrcA> && kIsMxFp8<SrcB>),
                "Matmul: A and B have one type, or are two of fp8_e4m3fn_t and fp8_e5m2_t on 950");
  static_assert(!kOfMx || (kOn950 && ((kIsMxFp8<SrcA> && kIsMxFp8<SrcB>) ||
                                      (kIsMxFp4<SrcA> && kIsMxFp4<SrcB>))),
                "Matmul: A and B of MatmulTypeWithScale are two of fp8_e4m3fn_t and fp8_e5m2_t, or "
                "two of fp4x2_e2m1_t and fp4x2_e1m2_t, on 950");
  static_assert(sizeof(RulesOfScales<A, true>) + sizeof(RulesOfScales<B, false>) > 0);
  static_assert(!kOfMx || config.doNorm || config.doMultiDataLoad,
                "Matmul: MatmulTypeWithScale is of the NORM and MDL templates");
  static_assert(!kOfMx || (!kCopiesA && !kCopiesB),
                "Matmul: copies of the kernel's own of A or B of MX types are not simulated yet");
  static_assert(!kOfMx || !kTo8, "Matmul: C of MX types is float, half or bfloat16_t");
  static_assert(kOfIntegers || kOfFloats,
                "Matmul: A and B are half, bfloat16_t, float or int8_t, on Atlas A2 and A3 int4b_t "
                "too, on 950 fp8_e4m3fn_t, fp8_e5m2_t or hifloat8_t, and fp4x2 types with scales "
                "(MatmulTypeWithScale); docs/simulator.md says what is simulated");
  static_assert(!kOfInt4 || !kOn950, "Matmul: products of int4b_t do not exist on 950");
  static_assert(!kOfInt4 || !A::isTrans, "Matmul: A of int4b_t has no transpose");
  static_assert(!kOfInt4 || !kTo8, "Matmul: C of int4b_t is int32_t or half");
  static_assert(kOfIntegers ? std::is_same_v<Dst, int32_t> || std::is_same_v<Dst, half> || kTo8
                            : std::is_same_v<Dst, float> || std::is_same_v<Dst, half> ||
                                  std::is_same_v<Dst, bfloat16_t> || kTo8,
                "Matmul: C of integers is int32_t, half, int8_t or uint8_t; C of others is float, "
                "half, bfloat16_t, int8_t or uint8_t");
  static_assert(
      !kTo8 || !std::is_same_v<SrcA, float>,
      "Matmul: C is quantised to eight bits where A and B are half, bfloat16_t or int8_t");
  static_assert(A::pos == TPosition::GM || kIsInL1<A>,
                "Matmul: A in VECOUT is not simulated yet; it lies in GM, TSCM, A1 or B1; "
                "docs/simulator.md says what is");
  static_assert(B::pos == TPosition::GM || kIsInL1<B>,
                "Matmul: B in VECOUT is not simulated yet; it lies in GM, TSCM, A1 or B1; "
                "docs/simulator.md says what is");
  // On cube cores C of a type in VECIN goes to GM: the calls that take a LocalTensor are of vector cores.
  static_assert(C::pos == TPosition::GM || detail::mm::kIsInUb<C> || kOwnCo1,
                "Matmul: C goes to GM, UB or CO1; docs/simulator.md says what is simulated");
  static_assert(A::format == CubeFormat::ND || A::format == CubeFormat::NZ ||
                    A::format == CubeFormat::VECTOR || kIsColumnMajor<A>,
                "Matmul: A in this format is not simulated yet; it is ND, NZ, VECTOR or, on 950, "
                "COLUMN_MAJOR");
  static_assert(B::format == CubeFormat::ND || B::format == CubeFormat::NZ || kIsColumnMajor<B>,
                "Matmul: B in this format is not simulated yet; it is ND, NZ or, on 950, "
                "COLUMN_MAJOR");
  static_assert(kOn950 || !kHasColumnMajor, "Matmul: COLUMN_MAJOR does not exist before 950");
  static_assert(!kHasColumnMajor || !kOfMx, "Matmul: matrices of MX types are not COLUMN_MAJOR");
  static_assert((!kIsColumnMajor<A> || A::pos == TPosition::GM) &&
                    (!kIsColumnMajor<B> || B::pos == TPosition::GM) &&
                    (!kIsColumnMajor<C> || C::pos == TPosition::GM),
                "Matmul: matrices in COLUMN_MAJOR lie in GM");
  static_assert(!kHasColumnMajor || (!kIsBatch && !kCopiesA && !kCopiesB && !kCopiesOut),
                "Matmul: COLUMN_MAJOR in batches, or with copies of the kernel's own, is not "
                "simulated yet; docs/simulator.md says what is");
  static_assert(A::format != CubeFormat::VECTOR || !A::isTrans,
                "Matmul: a vector has no transpose");
  static_assert(C::format == CubeFormat::ND || C::format == CubeFormat::NZ ||
                    C::format == CubeFormat::ND_ALIGN || kIsColumnMajor<C>,
                "Matmul: C in this format is not simulated yet; it is ND, ND_ALIGN, NZ or, on 950, "
                "COLUMN_MAJOR");
  static_assert(!kOwnCo1 || (C::format == CubeFormat::NZ && std::is_same_v<Dst, Sum>),
                "Matmul: C in CO1 is NZ, of float or int32_t");
  // The page of IterateBatch wants one layout for A and B. FlashAttentionScore multiplies a BNGS1S2, its own sums, by a BSNGD.
  static_assert(!kIsBatch ||
                    (B::layout != LayoutMode::NONE && C::layout != LayoutMode::NONE &&
                     (A::layout == LayoutMode::NORMAL) == (B::layout == LayoutMode::NORMAL)),
                "Matmul: A and B of a batch have a LayoutMode, NORMAL both or neither, and C has "
                "one as well");
  // A decides whether there are batches. One product takes no notice of a NORMAL B or C but in the NORM template, which would copy B by
  // matrices of a batch.
  static_assert(kIsBatch || ((B::layout == LayoutMode::NONE ||
                              (B::layout == LayoutMode::NORMAL && !config.doNorm)) &&
                             (C::layout == LayoutMode::NONE || C::layout == LayoutMode::NORMAL)),
                "Matmul: without a LayoutMode of A there is one product, of a B without one, or "
                "with NORMAL beyond the NORM template (CFG_MDL)");
  static_assert(!kIsBatch || (A::pos == TPosition::GM && B::pos == TPosition::GM && !kOwnCo1 &&
                              !kCopiesA && !kCopiesB && !kCopiesOut),
                "Matmul: batches with matrices in TSCM or CO1, or with copies of the kernel's own, "
                "are not simulated yet; docs/simulator.md says what is");
  static_assert(!kIsBatch || (!kQuantises && config.doNorm),
                "Matmul: batches are of the NORM template, without quantisation");
  static_assert(!kIsBatch || A::format != CubeFormat::VECTOR,
                "Matmul: A and B of a batch are ND or NZ");
  template <typename Matrix>
  static constexpr bool kIsNdInRows =
      (Matrix::layout != LayoutMode::BSNGD && Matrix::layout != LayoutMode::SBNGD) ||
      Matrix::format == CubeFormat::ND;
  static_assert(kIsNdInRows<A> && kIsNdInRows<B> &&
                    (kIsNdInRows<C> || C::format == CubeFormat::ND_ALIGN),
                "Matmul: matrices in BSNGD and SBNGD are ND");
  static_assert((!kCopiesA || A::pos == TPosition::GM) && (!kCopiesB || B::pos == TPosition::GM) &&
                    (!kCopiesOut || !kOwnCo1),
                "Matmul: MatmulCallBackFunc copies matrices that are in GM");
  static_assert(!config.intraBlockPartSum,
                "Matmul: intraBlockPartSum is of no SoC that is simulated");
  static_assert(!config.isPartialOutput || config.doMultiDataLoad,
                "Matmul: isPartialOutput is of the MDL template (CFG_MDL)");
  static_assert(!config.enableMixDualMaster ||
                    ((config.doNorm || config.doMultiDataLoad) && A::pos == TPosition::GM &&
                     B::pos == TPosition::GM && Bias::pos == TPosition::GM && !kOwnCo1 && !kOfMx),
                "Matmul: enableMixDualMaster is of the NORM and MDL templates, with A, B, bias and "
                "C in GM, and not of MX types");
  static_assert(!config.isEnableChannelSplit ||
                    (C::format == CubeFormat::NZ && std::is_same_v<Dst, float>),
                "Matmul: isEnableChannelSplit is of C in NZ, of float");
};

}  // namespace AscendC::detail::mm

namespace AscendC {

// The type of the sums of products of T in L0C.
template <typename T>
struct GetMmDstType {
  using Type = detail::mm::SumOf<T>;
};

}  // namespace AscendC
