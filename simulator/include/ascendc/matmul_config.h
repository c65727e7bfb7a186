// SPDX-License-Identifier: Apache-2.0
// The template parameters of Matmul: where its matrices lie and how, and how it works. Names, order and defaults of fields are CANN's.
#pragma once

#include <algorithm>
#include <utility>

#include "ascendc/tensor.h"
#include "kernel_tiling/kernel_tiling.h"

enum class CubeFormat {
  ND = 0,
  NZ,
  ZN,
  ZZ,
  NN,
  ND_ALIGN,
  SCALAR,
  VECTOR,
  ROW_MAJOR = ND,
  COLUMN_MAJOR = 8,
};
enum class LayoutMode { NONE = 0, BSNGD, SBNGD, BNGS1S2, NORMAL };
enum class BatchMode { NONE = 0, BATCH_LESS_THAN_L1, BATCH_LARGE_THAN_L1, SINGLE_LARGE_THAN_L1 };
enum BatchOutMode { SINGLE_BATCH = 0, MULTI_BATCH, DYNAMIC };
enum class IterateOrder { ORDER_M = 0, ORDER_N, UNDEF };
enum class ScheduleType { INNER_PRODUCT = 0, OUTER_PRODUCT, N_BUFFER_33 };
enum IterateMode : uint8_t {
  ITERATE_MODE_NORMAL = 1,
  ITERATE_MODE_ALL = 2,
  ITERATE_MODE_BATCH = 4,
  ITERATE_MODE_N_BATCH = 8,
  ITERATE_MODE_DEFAULT = 255,
};
enum class MatmulConfigMode { CONFIG_NORM, CONFIG_MDL, CONFIG_SPECIALMDL, CONFIG_IBSHARE };

// The simulator's results or refusals depend on a field whose comment says so; all others change speed alone.
struct MatmulConfig {
  bool doNorm = false;
  bool doBasicBlock = false;
  bool doMultiDataLoad = false;
  uint32_t basicM = 0;
  uint32_t basicN = 0;
  uint32_t basicK = 0;
  bool intrinsicsCheck = false;  // without it a row has at most 65535 elements
  bool isNBatch = false;
  bool enVecND2NZ = false;
  bool doSpecialBasicBlock = false;
  uint32_t doMTE2Preload = 0;
  uint32_t singleCoreM = 0;
  uint32_t singleCoreN = 0;
  uint32_t singleCoreK = 0;
  uint32_t stepM = 0;
  uint32_t stepN = 0;
  uint32_t baseMN = 0;
  uint32_t singleCoreMN = 0;
  bool enUnitFlag = true;
  bool isPerTensor = false;
  bool hasAntiQuantOffset = false;
  bool doIBShareNorm = false;
  bool doSpecialMDL = false;
  bool enableInit = true;
  BatchMode batchMode = BatchMode::NONE;
  bool enableEnd = true;  // without it nobody has to call End
  bool enableGetTensorC = true;
  bool enableSetOrgShape = true;
  bool enableSetBias = true;  // without it SetBias is a mistake
  bool enableSetTail = true;
  bool enableQuantVector = true;
  bool enableSetDefineData = true;
  uint8_t iterateMode = IterateMode::ITERATE_MODE_DEFAULT;
  bool enableReuse = true;
  bool enableUBReuse = false;
  bool enableL1CacheUB = false;
  bool intraBlockPartSum = false;                   // refused
  IterateOrder iterateOrder = IterateOrder::UNDEF;  // goes before the tiling's
  ScheduleType scheduleType = ScheduleType::INNER_PRODUCT;
  bool enableDoubleCache = false;
  bool isBiasBatch = true;
  bool enableStaticPadZeros = false;
  bool isPartialOutput = false;      // Iterate makes a tile of one baseK after the other
  bool enableMixDualMaster = false;  // each half of a MIX kernel runs its own code
  bool isA2B2Shared = false;
  bool isEnableChannelSplit = false;  // NZ of float in fractals of 16 x 8
  bool enableKdimReorderLoad = false;
  bool isCO1Shared = false;
  uint32_t sharedCO1BufferSize = 64 * 1024;
  BatchOutMode bmmOutMode = BatchOutMode::SINGLE_BATCH;
  bool enableL1BankConflictOptimise = false;
  bool enableRelu = false;  // negative results become 0
};

// GetMMConfig takes these, each part at most once.
struct MatmulShapeParams {
  uint32_t singleCoreM, singleCoreN, singleCoreK, basicM, basicN, basicK;
};
struct MatmulQuantParams {
  bool isPerTensor, hasAntiQuantOffset;
};
struct MatmulBatchParams {
  bool isNBatch;
  BatchMode batchMode;
  bool isBiasBatch = true;
  BatchOutMode bmmOutMode = BatchOutMode::SINGLE_BATCH;
};
struct MatmulFuncParams {
  bool intrinsicsCheck = false, enVecND2NZ = false, enableDoubleCache = false,
       enableL1CacheUB = false;
  uint32_t doMTE2Preload = 0;
  IterateOrder iterateOrder = IterateOrder::UNDEF;
  ScheduleType scheduleType = ScheduleType::INNER_PRODUCT;
  bool enableReuse = true, enableUBReuse = false, isPartialOutput = false, isA2B2Shared = false,
       isEnableChannelSplit = false, enableKdimReorderLoad = false,
       enableL1BankConflictOptimise = false, enableRelu = false;
};
struct MatmulBiasParams {
  bool enableSetBias = true;
};

constexpr MatmulConfig GetNormalConfig(
    const bool intrinsicsLimit = false, const bool batchLoop = false, const bool isVecND2NZ = false,
    const BatchMode bmmMode = BatchMode::BATCH_LESS_THAN_L1, const bool isMsgReuse = true,
    const IterateOrder iterateOrder = IterateOrder::UNDEF,
    const ScheduleType scheduleType = ScheduleType::INNER_PRODUCT, const bool enUnitFlag = true,
    const bool enableMixDualMaster = false,
    const BatchOutMode bmmOutMode = BatchOutMode::SINGLE_BATCH) {
  MatmulConfig config;
  config.doNorm = true;
  config.intrinsicsCheck = intrinsicsLimit;
  config.isNBatch = batchLoop;
  config.enVecND2NZ = isVecND2NZ;
  config.batchMode = bmmMode;
  config.enableReuse = isMsgReuse;
  config.iterateOrder = iterateOrder;
  config.scheduleType = scheduleType;
  config.enUnitFlag = enUnitFlag;
  config.enableMixDualMaster = enableMixDualMaster;
  config.bmmOutMode = bmmOutMode;
  return config;
}
constexpr MatmulConfig GetMDLConfig(const bool intrinsicsLimit = false,
                                    const bool batchLoop = false, const uint32_t doMTE2Preload = 0,
                                    const bool isVecND2NZ = false, bool isPerTensor = false,
                                    bool hasAntiQuantOffset = false, const bool enUnitFlag = false,
                                    const bool isMsgReuse = true, const bool enableUBReuse = true,
                                    const bool enableL1CacheUB = false,
                                    const bool enableMixDualMaster = false,
                                    const bool enableKdimReorderLoad = false) {
  MatmulConfig config;
  config.doMultiDataLoad = true;
  config.intrinsicsCheck = intrinsicsLimit;
  config.isNBatch = batchLoop;
  config.doMTE2Preload = doMTE2Preload;
  config.enVecND2NZ = isVecND2NZ;
  config.isPerTensor = isPerTensor;
  config.hasAntiQuantOffset = hasAntiQuantOffset;
  config.enUnitFlag = enUnitFlag;
  config.enableReuse = isMsgReuse;
  config.enableUBReuse = enableUBReuse;
  config.enableL1CacheUB = enableL1CacheUB;
  config.enableMixDualMaster = enableMixDualMaster;
  config.enableKdimReorderLoad = enableKdimReorderLoad;
  return config;
}
constexpr MatmulConfig GetSpecialMDLConfig(const bool intrinsicsLimit = false,
                                           const bool batchLoop = false,
                                           const uint32_t doMTE2Preload = 0,
                                           const bool isVecND2NZ = false, bool isPerTensor = false,
                                           bool hasAntiQuantOffset = false) {
  MatmulConfig config = GetMDLConfig(intrinsicsLimit, batchLoop, doMTE2Preload, isVecND2NZ,
                                     isPerTensor, hasAntiQuantOffset);
  config.doMultiDataLoad = false;
  config.doSpecialMDL = true;
  return config;
}
constexpr MatmulConfig GetIBShareNormConfig(const bool intrinsicsLimit = false,
                                            const bool batchLoop = false,
                                            const bool isVecND2NZ = false,
                                            const BatchMode bmmMode = BatchMode::BATCH_LESS_THAN_L1,
                                            const bool isDoubleCache = false,
                                            const bool enUnitFlag = true) {
  MatmulConfig config = GetNormalConfig(intrinsicsLimit, batchLoop, isVecND2NZ, bmmMode);
  config.doNorm = false;
  config.doIBShareNorm = true;
  config.enableDoubleCache = isDoubleCache;
  config.enUnitFlag = enUnitFlag;
  return config;
}
constexpr MatmulConfig GetBasicConfig(const uint32_t basicM, const uint32_t basicN,
                                      const uint32_t basicK, const bool intrinsicsLimit = false,
                                      const bool batchLoop = false,
                                      const BatchMode bmmMode = BatchMode::BATCH_LESS_THAN_L1) {
  MatmulConfig config = GetNormalConfig(intrinsicsLimit, batchLoop, false, bmmMode);
  config.doNorm = false;
  config.doBasicBlock = true;
  config.basicM = basicM;
  config.basicN = basicN;
  config.basicK = basicK;
  return config;
}

constexpr MatmulConfig CFG_NORM = GetNormalConfig();
constexpr MatmulConfig CFG_MDL = GetMDLConfig();
constexpr MatmulConfig CFG_IBSHARE_NORM = GetIBShareNormConfig();
constexpr MatmulConfig MM_CFG_BB = GetBasicConfig(128, 128, 128);

namespace AscendC::detail::mm {

constexpr void Apply(MatmulConfig* config, const MatmulShapeParams& p) {
  config->singleCoreM = p.singleCoreM;
  config->singleCoreN = p.singleCoreN;
  config->singleCoreK = p.singleCoreK;
  config->basicM = p.basicM;
  config->basicN = p.basicN;
  config->basicK = p.basicK;
}
constexpr void Apply(MatmulConfig* config, const MatmulQuantParams& p) {
  config->isPerTensor = p.isPerTensor;
  config->hasAntiQuantOffset = p.hasAntiQuantOffset;
}
constexpr void Apply(MatmulConfig* config, const MatmulBatchParams& p) {
  config->isNBatch = p.isNBatch;
  config->batchMode = p.batchMode;
  config->isBiasBatch = p.isBiasBatch;
  config->bmmOutMode = p.bmmOutMode;
}
constexpr void Apply(MatmulConfig* config, const MatmulFuncParams& p) {
  config->intrinsicsCheck = p.intrinsicsCheck;
  config->enVecND2NZ = p.enVecND2NZ;
  config->enableDoubleCache = p.enableDoubleCache;
  config->enableL1CacheUB = p.enableL1CacheUB;
  config->doMTE2Preload = p.doMTE2Preload;
  config->iterateOrder = p.iterateOrder;
  config->scheduleType = p.scheduleType;
  config->enableReuse = p.enableReuse;
  config->enableUBReuse = p.enableUBReuse;
  config->isPartialOutput = p.isPartialOutput;
  config->isA2B2Shared = p.isA2B2Shared;
  config->isEnableChannelSplit = p.isEnableChannelSplit;
  config->enableKdimReorderLoad = p.enableKdimReorderLoad;
  config->enableL1BankConflictOptimise = p.enableL1BankConflictOptimise;
  config->enableRelu = p.enableRelu;
}
constexpr void Apply(MatmulConfig* config, const MatmulBiasParams& p) {
  config->enableSetBias = p.enableSetBias;
}

constexpr MatmulConfig ConfigOf(MatmulConfigMode mode) {
  switch (mode) {
    case MatmulConfigMode::CONFIG_MDL:
      return CFG_MDL;
    case MatmulConfigMode::CONFIG_SPECIALMDL:
      return GetSpecialMDLConfig();
    case MatmulConfigMode::CONFIG_IBSHARE:
      return CFG_IBSHARE_NORM;
    default:
      return CFG_NORM;
  }
}

}  // namespace AscendC::detail::mm

template <MatmulConfigMode configMode, typename... Parts>
constexpr MatmulConfig GetMMConfig(Parts&&... parts) {
  MatmulConfig config = AscendC::detail::mm::ConfigOf(configMode);
  (AscendC::detail::mm::Apply(&config, parts), ...);
  return config;
}

// A tiling that is known to the compiler, with the config; -1 is what the tiling at run time says.
struct MatmulApiStaticTiling {
#define ACLSIM_STATIC_FIELD_(type, name) type name = -1;
  ACLSIM_CUBE_TILING(ACLSIM_STATIC_FIELD_)
#undef ACLSIM_STATIC_FIELD_
  MatmulConfig cfg = CFG_NORM;
};

namespace AscendC {

// The config of a Matmul, however its template argument says it.
constexpr MatmulConfig ToMatmulConfig(const MatmulConfig& config) { return config; }
constexpr MatmulConfig ToMatmulConfig(const MatmulApiStaticTiling& tiling) { return tiling.cfg; }

namespace detail::mm {
constexpr bool IsL1(TPosition position) {
  return position == TPosition::TSCM || position == TPosition::A1 || position == TPosition::B1;
}
// kIsInL1 is true for a matrix in L1: a tensor of the kernel's own, or one that vector cores bring there.
template <typename Type>
inline constexpr bool kIsInL1 = IsL1(Type::pos);
// kIsColumnMajor is true for a matrix whose columns lie one behind the other.
template <typename Type>
inline constexpr bool kIsColumnMajor = Type::format == CubeFormat::COLUMN_MAJOR;
// kMayLieTurned is true for an operand whose rows in memory may be those of K x M, or of N x K.
template <typename Type>
inline constexpr bool kMayLieTurned = Type::isTrans || kIsColumnMajor<Type>;
// kIsScaled is true for a MatmulTypeWithScale.
template <typename Type, typename = void>
inline constexpr bool kIsScaled = false;
template <typename Type>
inline constexpr bool kIsScaled<Type, std::void_t<decltype(&Type::scalePosition)>> = true;
template <typename Type, bool = kIsScaled<Type>>
inline constexpr bool kHasScalesInL1 = IsL1(Type::scalePosition);
template <typename Type>
inline constexpr bool kHasScalesInL1<Type, false> = false;
constexpr uint32_t kScaled = 32;         // elements along K that share a scale
constexpr uint32_t kPair = 2 * kScaled;  // those of two scales, which lie side by side
constexpr int32_t kFactorsOfOne =
    0x01010101;  // mxTypePara of blocks of scales as large as those of the numbers
}  // namespace detail::mm

// The tiling of a config with parts and tiles (GetMMConfig with MatmulShapeParams): as many steps of K as L1 holds.
template <typename A, typename B, typename C, typename Bias>
constexpr MatmulApiStaticTiling GetMatmulApiTiling(const MatmulConfig& mmCFG,
                                                   int32_t l1Size = 512 * 1024) {
  constexpr int32_t kL0 = 64 * 1024, kL0c = 128 * 1024, kSum = 4, kUnit = 32;
  constexpr bool kOfPairs = detail::kNibbles<typename A::T>;  // a byte holds two
  constexpr bool kOfMx = detail::mm::kIsScaled<A> && detail::mm::kIsScaled<B>;
  constexpr int32_t kA = sizeof(typename A::T), kB = sizeof(typename B::T);
  MatmulApiStaticTiling tiling;
  tiling.cfg = mmCFG;
  const auto m = static_cast<int32_t>(mmCFG.basicM), n = static_cast<int32_t>(mmCFG.basicN),
             k = static_cast<int32_t>(mmCFG.basicK);
  if (m == 0 || n == 0 || k == 0 || mmCFG.singleCoreK == 0) {
    return tiling;
  }
  const auto up = [](int32_t value) { return (value + kUnit - 1) / kUnit * kUnit; };
  tiling.singleCoreM = static_cast<int32_t>(mmCFG.singleCoreM);
  tiling.singleCoreN = static_cast<int32_t>(mmCFG.singleCoreN);
  tiling.singleCoreK = static_cast<int32_t>(mmCFG.singleCoreK);
  tiling.baseM = m, tiling.baseN = n, tiling.baseK = k;
  constexpr int32_t kPairs = kOfPairs ? 2 : 1;
  tiling.dbL0A = 2 * m * k * kA <= kL0 * kPairs ? 2 : 1;
  tiling.dbL0B = 2 * n * k * kB <= kL0 * kPairs ? 2 : 1;
  tiling.dbL0C = 2 * m * n * kSum <= kL0c ? 2 : 1;
  constexpr auto kOfScale = static_cast<int32_t>(detail::mm::kScaled);
  const int32_t scales = kOfMx ? ((detail::mm::kHasScalesInL1<A> ? 0 : up(m)) +
                                  (detail::mm::kHasScalesInL1<B> ? 0 : up(n))) *
                                     up(k) / kOfScale
                               : 0;
  const int32_t blocks = (detail::mm::kIsInL1<A> ? 0 : up(m) * up(k) * kA / kPairs) +
                         (detail::mm::kIsInL1<B> ? 0 : up(n) * up(k) * kB / kPairs) + scales;
  const int32_t room = l1Size - n * static_cast<int32_t>(sizeof(uint64_t));  // bias or quantisation
  const int32_t db = 2 * blocks <= room ? 2 : 1;
  const int32_t steps = (tiling.singleCoreK + k - 1) / k;
  const int32_t fits = blocks == 0 ? steps : std::max(1, std::min(steps, room / (db * blocks)));
  tiling.stepM = tiling.stepN = 1;
  tiling.stepKa = tiling.stepKb = fits;
  tiling.depthA1 = tiling.depthB1 = db * fits;
  tiling.mxTypePara = kOfMx ? detail::mm::kFactorsOfOne : tiling.mxTypePara;
  return tiling;
}

template <TPosition POSITION, CubeFormat FORMAT, typename TYPE, bool ISTRANS = false,
          LayoutMode LAYOUT = LayoutMode::NONE, bool IBSHARE = false,
          TPosition SRCPOS = TPosition::GM>
struct MatmulType {
  static constexpr TPosition pos = POSITION;
  static constexpr CubeFormat format = FORMAT;
  using T = TYPE;
  static constexpr bool isTrans = ISTRANS;
  static constexpr LayoutMode layout = LAYOUT;
  static constexpr bool ibShare = IBSHARE;
  static constexpr TPosition srcPos = SRCPOS;
};
// kIsInUb is true for a matrix in UB. Queues tell its positions apart, Matmul does not.
namespace detail::mm {
template <typename Type>
inline constexpr bool kIsInUb = Type::pos == TPosition::VECIN || Type::pos == TPosition::VECOUT ||
                                Type::pos == TPosition::VECCALC;
}  // namespace detail::mm

// A or B of an MX type: SetTensorScaleA and SetTensorScaleB give the powers of two that 32 elements along K share.
template <TPosition POSITION, TPosition SCALE_POSITION, CubeFormat FORMAT, typename TYPE,
          bool ISTRANS = false, TPosition SRCPOS = TPosition::GM, CubeFormat SCALE_FORMAT = FORMAT,
          bool SCALE_ISTRANS = ISTRANS, TPosition SCALE_SRCPOS = SRCPOS>
struct MatmulTypeWithScale
    : MatmulType<POSITION, FORMAT, TYPE, ISTRANS, LayoutMode::NONE, false, SRCPOS> {
  static constexpr TPosition scalePosition = SCALE_POSITION;
  static constexpr CubeFormat scaleFormat = SCALE_FORMAT;
  static constexpr bool isScaleTrans = SCALE_ISTRANS;
  static constexpr TPosition srcScalePos = SCALE_SRCPOS;
};

// B of 4:2 sparsity, with an index of SetSparseIndex.
template <TPosition POSITION, TPosition INDEX_POSITION, CubeFormat FORMAT, typename TYPE,
          bool ISTRANS = false, LayoutMode LAYOUT = LayoutMode::NONE, bool IBSHARE = false>
struct SparseMatmulType : MatmulType<POSITION, FORMAT, TYPE, ISTRANS, LAYOUT, IBSHARE> {
  static constexpr TPosition indexPosition = INDEX_POSITION;
};

// Matmul describes a copy out of L0C by these, in the terms of FixpipeParams.
struct DataCopyOutParams {
  uint16_t cBurstNum = 0;
  uint16_t burstLen = 0;
  uint16_t srcStride = 0;
  uint32_t dstStride = 0;
  uint16_t oriNSize = 0;
  bool enUnitFlag = false;
  uint64_t quantScalar = 0;
  uint64_t cbufWorkspaceAddr = 0;
};

// Copies of the kernel's own: out of L0C, of A into L1, of B into L1.
template <auto copyOut = nullptr, auto copyA1 = nullptr, auto copyB1 = nullptr>
struct MatmulCallBackFunc {
  static constexpr auto kCopyOut = copyOut;
  static constexpr auto kCopyA1 = copyA1;
  static constexpr auto kCopyB1 = copyB1;
  // Calls by the parameters themselves: a call by a constant of theirs does not instantiate a function template.
  template <typename... Args>
  static void CopyOut(Args&&... args) {
    copyOut(std::forward<Args>(args)...);
  }
  template <typename... Args>
  static void CopyA1(Args&&... args) {
    copyA1(std::forward<Args>(args)...);
  }
  template <typename... Args>
  static void CopyB1(Args&&... args) {
    copyB1(std::forward<Args>(args)...);
  }
};

namespace detail::mm {
// A policy leaves out the tiles of C below or above the diagonal.
enum class Triangle { kNone, kUpper, kLower };
// A policy gives each of two AIVs half of a tile.
enum class Split { kNone, kRows, kColumns };
}  // namespace detail::mm

namespace Impl {
constexpr int32_t QUEUE_DEPTH = 1;  // Kernels give their queues the depth that Matmul's have.
}
namespace Impl::Detail {
template <const auto& config, typename... Types>
struct MatmulPolicy {
  static constexpr auto kTriangle = ::AscendC::detail::mm::Triangle::kNone;
  static constexpr auto kSplit = ::AscendC::detail::mm::Split::kNone;
  static constexpr bool kTakesScales = false;
};
template <const auto& config, typename... Types>
struct TrianUpperMatmulPolicy : MatmulPolicy<config, Types...> {
  static constexpr auto kTriangle = ::AscendC::detail::mm::Triangle::kUpper;
};
template <const auto& config, typename... Types>
struct TrianLowerMatmulPolicy : MatmulPolicy<config, Types...> {
  static constexpr auto kTriangle = ::AscendC::detail::mm::Triangle::kLower;
};
// Keeps 3 x 3 tiles of A in L1: another speed, and the same results.
template <const auto& config, typename... Types>
struct NBuffer33MatmulPolicy : MatmulPolicy<config, Types...> {};
template <const auto& config, typename... Types>
struct MatmulWithScalePolicy : MatmulPolicy<config, Types...> {
  static constexpr bool kTakesScales = true;
};
template <const auto& config, typename... Types>
struct SplitMMatmulPolicy : MatmulPolicy<config, Types...> {
  static constexpr auto kSplit = ::AscendC::detail::mm::Split::kRows;
};
template <const auto& config, typename... Types>
struct SplitNMatmulPolicy : MatmulPolicy<config, Types...> {
  static constexpr auto kSplit = ::AscendC::detail::mm::Split::kColumns;
};
}  // namespace Impl::Detail

}  // namespace AscendC
