// SPDX-License-Identifier: Apache-2.0
// Tiling of Matmul: which part of a product a core has, which tiles of it lie in L0, and what of it L1 keeps. GetTiling returns -1, and
// aclGetRecentErrMsg says why, where no tiling keeps to the sizes of the memories.
#pragma once

#include <cstdint>
#include <iostream>  // programs that print count on it

#include "kernel_tiling/kernel_tiling.h"
#include "register/tilingdata_base.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {

#define ACLSIM_HOST_FIELD_(type, name) TILING_DATA_FIELD_DEF(type, name);
BEGIN_TILING_DATA_DEF(TCubeTiling)
ACLSIM_CUBE_TILING(ACLSIM_HOST_FIELD_)
END_TILING_DATA_DEF;
#undef ACLSIM_HOST_FIELD_

}  // namespace optiling

namespace matmul_tiling {

#ifndef __NPU_ARCH__
using half = double;  // as CANN has it: sizeof(half) is 8 in op_host
#endif

// Numbers are those of ge::DataType, as tiling casts one into the other.
enum class DataType : int32_t {
  DT_FLOAT = 0,
  DT_FLOAT16 = 1,
  DT_INT8 = 2,
  DT_INT32 = 3,
  DT_UINT8 = 4,
  DT_INT16 = 6,
  DT_UINT16 = 7,
  DT_UINT32 = 8,
  DT_INT64 = 9,
  DT_UINT64 = 10,
  DT_DOUBLE = 11,
  DT_BOOL = 12,
  DT_STRING = 13,
  DT_DUAL_SUB_INT8 = 14,
  DT_DUAL_SUB_UINT8 = 15,
  DT_COMPLEX64 = 16,
  DT_COMPLEX128 = 17,
  DT_QINT8 = 18,
  DT_QINT16 = 19,
  DT_QINT32 = 20,
  DT_QUINT8 = 21,
  DT_QUINT16 = 22,
  DT_RESOURCE = 23,
  DT_STRING_REF = 24,
  DT_DUAL = 25,
  DT_VARIANT = 26,
  DT_BF16 = 27,
  DT_UNDEFINED = 28,
  DT_INT4 = 29,
  DT_UINT1 = 30,
  DT_INT2 = 31,
  DT_UINT2 = 32,
  DT_BFLOAT16 = 33,
  DT_HIFLOAT8 = 34,
  DT_FLOAT8_E4M3FN = 35,
  DT_FLOAT8_E5M2 = 36,
  DT_FLOAT4_E2M1 = 37,
  DT_FLOAT8_E8M0 = 38,
  DT_FLOAT4_E1M2 = 39,
  DT_MAX = 40,
};

enum class TPosition : int32_t {
  GM,
  A1,
  A2,
  B1,
  B2,
  C1,
  C2,
  CO1,
  CO2,
  VECIN,
  VECOUT,
  VECCALC,
  LCM = VECCALC,
  SPM,
  SHM = SPM,
  TSCM,
  MAX,
};

enum class CubeFormat : int32_t {
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

enum class TilingPolicy : int32_t { FIXED_A_TSCM, FIXED_B_TSCM, FIXED_A_B_TSCM, NO_POLICY };
enum class MatrixTraverse : int32_t { NOSET = 0, FIRSTM = 1, FIRSTN = 2 };
enum class MatrixMadType : int32_t { NORMAL = 0, HF32 = 1, MXMODE = 2 };
enum class DequantType : int32_t { SCALAR = 0, TENSOR = 1 };
enum class ScheduleType : int32_t { INNER_PRODUCT = 0, OUTER_PRODUCT = 1, N_BUFFER_33 = 2 };

struct SysTilingTempBufSize {
  int32_t ubSize = 0;
  int32_t l1Size = 0;
  int32_t l0cSize = 0;
};

struct MatTilingType {
  TPosition pos = TPosition::GM;
  CubeFormat type = CubeFormat::ND;
  DataType dataType = DataType::DT_FLOAT;
  bool isTrans = false;
  bool hasSetScaleType = false;
  TPosition scalePos = TPosition::GM;
  CubeFormat scaleType = CubeFormat::ND;
  bool isScaleTrans = false;
};

// For tiling that has no PlatformAscendC.
struct PlatformInfo {
  platform_ascendc::SocVersion socVersion;
  uint64_t l1Size = 0;
  uint64_t l0CSize = 0;
  uint64_t ubSize = 0;
  uint64_t l0ASize = 0;
  uint64_t l0BSize = 0;
};

struct MatmulConfigParams {
  // Programs write {1, false, ScheduleType::OUTER_PRODUCT}: no explicit constructor.
  MatmulConfigParams(int32_t config = 1, bool cacheUb = false,
                     ScheduleType schedule = ScheduleType::INNER_PRODUCT,
                     MatrixTraverse order = MatrixTraverse::NOSET, bool vecNd2Nz = false)
      : mmConfigType(config),
        enableL1CacheUB(cacheUb),
        scheduleType(schedule),
        traverse(order),
        enVecND2NZ(vecNd2Nz) {}
  int32_t mmConfigType;
  bool enableL1CacheUB;
  ScheduleType scheduleType;
  MatrixTraverse traverse;
  bool enVecND2NZ;
};

// Three extents, each -1 where nobody has said it.
struct Extents {
  int32_t m = -1, n = -1, k = -1;
};

class MatmulApiTilingBase {
 public:
  MatmulApiTilingBase();
  explicit MatmulApiTilingBase(const platform_ascendc::PlatformAscendC& ascendcPlatform);
  explicit MatmulApiTilingBase(const PlatformInfo& platform);
  virtual ~MatmulApiTilingBase() = default;

  int32_t SetAType(TPosition pos, CubeFormat type, DataType dataType, bool isTrans = false);
  int32_t SetBType(TPosition pos, CubeFormat type, DataType dataType, bool isTrans = false);
  int32_t SetCType(TPosition pos, CubeFormat type, DataType dataType);
  int32_t SetBiasType(TPosition pos, CubeFormat type, DataType dataType);
  // Scales of MX types, of which SetMadType(MXMODE) says that they count. Without these they lie as their matrix does.
  int32_t SetScaleAType(TPosition scalePos, CubeFormat scaleType, bool isScaleTrans = false);
  int32_t SetScaleBType(TPosition scalePos, CubeFormat scaleType, bool isScaleTrans = true);
  int32_t SetDequantType(DequantType dequantType);
  virtual int32_t SetShape(int32_t m, int32_t n, int32_t k);
  int32_t SetOrgShape(int32_t orgMIn, int32_t orgNIn, int32_t orgKIn);
  int32_t SetOrgShape(int32_t orgMIn, int32_t orgNIn, int32_t orgKaIn, int32_t orgKbIn);
  int32_t SetALayout(int32_t b, int32_t s, int32_t n, int32_t g, int32_t d);
  int32_t SetBLayout(int32_t b, int32_t s, int32_t n, int32_t g, int32_t d);
  int32_t SetCLayout(int32_t b, int32_t s, int32_t n, int32_t g, int32_t d);
  int32_t SetBatchInfoForNormal(int32_t batchA, int32_t batchB, int32_t m, int32_t n, int32_t k);
  int32_t SetBatchNum(int32_t batch);
  int32_t EnableBias(bool isBiasIn = false);
  int32_t SetBias(bool isBiasIn = false);
  int32_t SetFixSplit(int32_t baseMIn = -1, int32_t baseNIn = -1, int32_t baseKIn = -1);
  int32_t SetSplitRange(int32_t maxBaseM = -1, int32_t maxBaseN = -1, int32_t maxBaseK = -1,
                        int32_t minBaseM = -1, int32_t minBaseN = -1, int32_t minBaseK = -1);
  int32_t SetBufferSpace(int32_t l1Size = -1, int32_t l0CSize = -1, int32_t ubSize = -1,
                         int32_t btSize = -1);
  int32_t SetTraverse(MatrixTraverse traverse);
  int32_t SetMadType(MatrixMadType madType);
  int32_t SetDoubleBuffer(bool a, bool b, bool c, bool bias, bool transND2NZ = true,
                          bool transNZ2ND = true);
  void SetMatmulConfigParams(int32_t mmConfigTypeIn = 1, bool enableL1CacheUBIn = false,
                             ScheduleType scheduleTypeIn = ScheduleType::INNER_PRODUCT,
                             MatrixTraverse traverseIn = MatrixTraverse::NOSET,
                             bool enVecND2NZIn = false);
  void SetMatmulConfigParams(const MatmulConfigParams& configParams);
  int32_t SetSparse(bool isSparseIn = false);

  int32_t GetBaseM() const { return tiling_.baseM; }
  int32_t GetBaseN() const { return tiling_.baseN; }
  int32_t GetBaseK() const { return tiling_.baseK; }

  virtual int64_t GetTiling(optiling::TCubeTiling& tiling);
  virtual int64_t GetTiling(::TCubeTiling& tiling);

  // The chip that the tiling is for: that of the platform, until a program says another one.
  platform_ascendc::SocVersion socVersion;

 protected:
  // Sets the cores and each one's part, for a product of `shape` elements.
  virtual bool SplitCores(const Extents& shape);
  // Those of SetFixSplit, or -1.
  const Extents& Fixed() const { return fixed_; }
  bool CheckFixed(const Extents& part) const;
  // Returns whether a core can have such a part.
  bool CanHave(const Extents& part) const;
  bool FitsL1(const MatTilingType& matrix, int64_t outer, int64_t k) const;
  // Speaks of the tiling that GetTiling has given last.
  bool FitsHalvesOfL1() const;
  bool Refuse(const char* format, ...) const __attribute__((format(printf, 2, 3)));

  ::TCubeTiling tiling_;
  int32_t cores_ = 1;
  Extents single_;                // SetSingleShape
  Extents most_, least_, units_;  // SetSingleRange, SetAlignSplit
  bool splitsK_ = false;
  MatTilingType a_, b_, c_, bias_;
  bool isMx_ = false;
  int64_t chipL1_ = 0;  // what a kernel may have of it, whatever SetBufferSpace says

  // Returns whether L0 holds the product as a whole: of MX types these are not shared out.
  bool IsOneTile(const Extents& shape) const;

 private:
  struct Sizes {
    int64_t l1 = 0, l0a = 0, l0b = 0, l0c = 0, ub = 0, bt = 0;  // bt 0: the SoC has none
    bool coupled = false;
  };
  struct Base;
  struct Depth;

  bool Compute();
  bool CheckTypes() const;
  bool CheckBatches() const;
  bool CheckParts() const;
  bool ChooseBase();
  bool Complete(const Base& base, Depth* depth) const;
  bool CompleteOuter(const Base& base, Depth* depth) const;
  bool Complete33(const Base& base, Depth* depth) const;
  double CyclesOf(const Base& base, const Depth& depth) const;
  int32_t UnitOfK() const;
  bool CheckMxTypes() const;
  int32_t SetScaleType(const char* call, MatTilingType* matrix, TPosition pos, CubeFormat type,
                       bool isTrans) const;
  int64_t BytesOfScales(const MatTilingType& matrix, int64_t outer, int64_t k) const;
  // Bytes of one step in L1: a tile of the operand with its scales, and the row of bias.
  int64_t StepOfA(const Base& base) const;
  int64_t StepOfB(const Base& base) const;
  int64_t RowOfBias(const Base& base) const;

  Sizes sizes_;
  bool hasBias_ = false;
  bool isSparse_ = false;
  bool doubles_ = true;
  Extents shape_, org_;
  int32_t orgKb_ = -1;
  Extents fixed_, mostBase_, leastBase_;
  int32_t order_ = -1;  // of iterations, -1: the cheaper one
  DequantType dequant_ = DequantType::SCALAR;
  int32_t config_ = 1;  // 0: NORM, 1: MDL
  ScheduleType schedule_ = ScheduleType::INNER_PRODUCT;
  bool isNormal_ = false;  // SetBatchInfoForNormal was the last one to say where batches lie
  bool isDone_ = false;    // GetTiling has given a tiling
};

class MatmulApiTiling : public MatmulApiTilingBase {
 public:
  using MatmulApiTilingBase::MatmulApiTilingBase;

  // Returns whether a kernel may have enableL1BankConflictOptimise with the tiling that GetTiling has given.
  bool EnableL1BankConflictOptimise() { return FitsHalvesOfL1(); }
};

class MultiCoreMatmulTiling : public MatmulApiTilingBase {
 public:
  using MatmulApiTilingBase::MatmulApiTilingBase;

  int32_t SetDim(int32_t dim);
  virtual int32_t SetSingleShape(int32_t singleMIn = -1, int32_t singleNIn = -1,
                                 int32_t singleKIn = -1);
  virtual int32_t SetSingleRange(int32_t maxM = -1, int32_t maxN = -1, int32_t maxK = -1,
                                 int32_t minM = -1, int32_t minN = -1, int32_t minK = -1);
  int32_t SetAlignSplit(int32_t alignM, int32_t alignN, int32_t alignK);
  void EnableMultiCoreSplitK(bool flag) { splitsK_ = flag; }
  void SetSplitK(bool flag) { splitsK_ = flag; }
  int32_t GetSingleShape(int32_t& shapeM, int32_t& shapeN, int32_t& shapeK);
  int32_t GetCoreNum(int32_t& dim, int32_t& mDim, int32_t& nDim);
  bool EnableL1BankConflictOptimise() { return FitsHalvesOfL1(); }

 protected:
  bool SplitCores(const Extents& shape) override;

 private:
  Extents shared_;  // among the cores, by the last GetTiling
};

class BatchMatmulTiling : public MatmulApiTilingBase {
 public:
  using MatmulApiTilingBase::MatmulApiTilingBase;

  int32_t GetCoreNum(int32_t& dim, int32_t& mDim, int32_t& nDim, int32_t& batchCoreM,
                     int32_t& batchCoreN);
};

}  // namespace matmul_tiling

#define ACLSIM_DECLARE_MATMUL_BUFFERS_(Name)                                 \
  int32_t Name##GetTmpBufSize(optiling::TCubeTiling& tiling,                 \
                              matmul_tiling::SysTilingTempBufSize& bufSize); \
  int32_t Name##GetTmpBufSizeV2(TCubeTiling& tiling, matmul_tiling::SysTilingTempBufSize& bufSize);
ACLSIM_DECLARE_MATMUL_BUFFERS_(Matmul)
ACLSIM_DECLARE_MATMUL_BUFFERS_(MultiCoreMatmul)
ACLSIM_DECLARE_MATMUL_BUFFERS_(BatchMatmul)
#undef ACLSIM_DECLARE_MATMUL_BUFFERS_
