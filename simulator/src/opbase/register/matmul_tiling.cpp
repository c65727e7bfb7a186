// SPDX-License-Identifier: Apache-2.0
// Tiling of Matmul. Which tiles are the best is the simulator's choice, by its costs of copies and products; which ones are allowed
// are the published constraints of TCubeTiling.
#include "tiling/matmul_tiling.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <limits>
#include <string>

#include "host/format.h"
#include "opbase/register/soc_version.h"
#include "runtime/runtime.h"
#include "soc/soc.h"

namespace matmul_tiling {
namespace {

constexpr int32_t kFractal = 16;       // rows of a fractal
constexpr int32_t kMostOfMmad = 4080;  // its extents are below 4096
constexpr int64_t kBlockBytes = 32;
constexpr int64_t kSumBytes = 4;   // an element of L0C, and of the bias table
constexpr int64_t kL1Kept = 256;   // of split chips, for the toolkit
constexpr int32_t kMostDepth = 4;  // steps of K that L1 holds when it cannot hold all
constexpr int32_t kScaled = 32, kPair = 2 * kScaled;  // elements along K of one scale, and of two
constexpr int64_t kScalesUnit = 512;                  // blocks of them in L1
constexpr int32_t kFactorsOfOne = 0x01010101;  // mxTypePara: as many scales in L1 as numbers need
constexpr int32_t kMdlConfig = 1;              // 0 is NORM
constexpr int64_t kMostOf33 = 3;  // tiles along M and along K, all of which N_BUFFER_33 keeps

int64_t Up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }
int64_t Parts(int64_t value, int64_t part) { return (value + part - 1) / part; }
int32_t Narrow(int64_t value) { return static_cast<int32_t>(value); }

int32_t BitsOf(DataType type) {
  switch (type) {
    case DataType::DT_FLOAT:
    case DataType::DT_INT32:
      return 32;
    case DataType::DT_FLOAT16:
    case DataType::DT_BF16:
    case DataType::DT_BFLOAT16:
      return 16;
    case DataType::DT_INT8:
    case DataType::DT_UINT8:
    case DataType::DT_HIFLOAT8:
    case DataType::DT_FLOAT8_E4M3FN:
    case DataType::DT_FLOAT8_E5M2:
      return 8;
    case DataType::DT_INT4:
    case DataType::DT_FLOAT4_E2M1:
    case DataType::DT_FLOAT4_E1M2:
      return 4;
    default:
      return 0;
  }
}
int64_t Bytes(DataType type, int64_t elements) { return elements * BitsOf(type) / 8; }
int32_t C0Of(DataType type) { return static_cast<int32_t>(kBlockBytes) * 8 / BitsOf(type); }

const char* NameOf(DataType type) {
  switch (type) {
    case DataType::DT_FLOAT:
      return "float";
    case DataType::DT_FLOAT16:
      return "half";
    case DataType::DT_BF16:
    case DataType::DT_BFLOAT16:
      return "bfloat16";
    case DataType::DT_INT8:
      return "int8";
    case DataType::DT_INT4:
      return "int4";
    case DataType::DT_INT32:
      return "int32";
    case DataType::DT_FLOAT8_E4M3FN:
      return "float8_e4m3fn";
    case DataType::DT_FLOAT8_E5M2:
      return "float8_e5m2";
    case DataType::DT_FLOAT4_E2M1:
      return "float4_e2m1";
    case DataType::DT_FLOAT4_E1M2:
      return "float4_e1m2";
    default:
      return "another type";
  }
}

bool IsFloat4(DataType type) {
  return type == DataType::DT_FLOAT4_E2M1 || type == DataType::DT_FLOAT4_E1M2;
}
bool IsMx(DataType type) {
  return IsFloat4(type) || type == DataType::DT_FLOAT8_E4M3FN || type == DataType::DT_FLOAT8_E5M2;
}

bool IsLocal(TPosition position) {
  return position == TPosition::TSCM || position == TPosition::A1 || position == TPosition::B1;
}

// Products of one cycle along K.
double WidthOfK(DataType type) {
  return BitsOf(type) == 32 ? 4 : (BitsOf(type) == 16 ? 16 : (BitsOf(type) == 8 ? 32 : 64));
}

#define ACLSIM_SET_(type, name) to->set_##name(from.name);
void Copy(const ::TCubeTiling& from, optiling::TCubeTiling* to) { ACLSIM_CUBE_TILING(ACLSIM_SET_) }
#undef ACLSIM_SET_
#define ACLSIM_GET_(type, name) to.name = from.get_##name();
::TCubeTiling Plain(const optiling::TCubeTiling& from) {
  ::TCubeTiling to;
  ACLSIM_CUBE_TILING(ACLSIM_GET_)
  return to;
}
#undef ACLSIM_GET_

int32_t Given(int32_t value, int32_t otherwise) { return value > 0 ? value : otherwise; }
// An extent of -1 leaves what an earlier call has said.
void Keep(const Extents& given, Extents* to) {
  *to = {Given(given.m, to->m), Given(given.n, to->n), Given(given.k, to->k)};
}

}  // namespace

// The tile of one Mmad.
struct MatmulApiTilingBase::Base {
  int32_t m = 0, n = 0, k = 0;
  int32_t db = 1;   // of L0A and L0B
  int32_t dbC = 1;  // of L0C
};
// Depth is what L1 holds of either operand, in steps of K.
struct MatmulApiTilingBase::Depth {
  int32_t stepA = 1, stepB = 1;  // along K
  int32_t dbA = 1, dbB = 1;
  bool keepsA = false, keepsB = false;  // all of K, while the other operand moves on
  int32_t stepM = 1, stepN = 1;
};

MatmulApiTilingBase::MatmulApiTilingBase()
    : MatmulApiTilingBase(*platform_ascendc::PlatformAscendCManager::GetInstance()) {}

MatmulApiTilingBase::MatmulApiTilingBase(const platform_ascendc::PlatformAscendC& platform)
    : socVersion(platform.GetSocVersion()) {
  using platform_ascendc::CoreMemType;
  const auto size = [&](CoreMemType type) {
    uint64_t bytes = 0;
    platform.GetCoreMemSize(type, bytes);
    return static_cast<int64_t>(bytes);
  };
  const aclsim::Soc& soc = aclsim::SocOf(socVersion);
  sizes_ = {size(CoreMemType::L1),
            size(CoreMemType::L0_A),
            size(CoreMemType::L0_B),
            size(CoreMemType::L0_C),
            size(CoreMemType::UB),
            static_cast<int64_t>(soc.BytesOf(aclsim::Space::kBt)),
            soc.coupled};
  if (!soc.coupled) sizes_.l1 = std::max<int64_t>(0, sizes_.l1 - kL1Kept);
  chipL1_ = sizes_.l1;
}

MatmulApiTilingBase::MatmulApiTilingBase(const PlatformInfo& platform)
    : socVersion(platform.socVersion) {
  const aclsim::Soc& soc = aclsim::SocOf(socVersion);
  sizes_ = {static_cast<int64_t>(platform.l1Size),
            static_cast<int64_t>(platform.l0ASize),
            static_cast<int64_t>(platform.l0BSize),
            static_cast<int64_t>(platform.l0CSize),
            static_cast<int64_t>(platform.ubSize),
            static_cast<int64_t>(soc.BytesOf(aclsim::Space::kBt)),
            soc.coupled};
  chipL1_ = sizes_.l1;
}

bool MatmulApiTilingBase::Refuse(const char* format, ...) const {
  va_list args;
  va_start(args, format);
  const std::string text = aclsim::FormatV(format, args);
  va_end(args);
  aclsim::ReportErrorText("MatmulApi Tiling: " + text);
  return false;
}

int32_t MatmulApiTilingBase::SetAType(TPosition pos, CubeFormat type, DataType dataType,
                                      bool isTrans) {
  a_.pos = pos, a_.type = type, a_.dataType = dataType;
  a_.isTrans = isTrans || type == CubeFormat::COLUMN_MAJOR;
  return 0;
}
int32_t MatmulApiTilingBase::SetBType(TPosition pos, CubeFormat type, DataType dataType,
                                      bool isTrans) {
  b_.pos = pos, b_.type = type, b_.dataType = dataType;
  b_.isTrans = isTrans || type == CubeFormat::COLUMN_MAJOR;
  return 0;
}
int32_t MatmulApiTilingBase::SetCType(TPosition pos, CubeFormat type, DataType dataType) {
  c_.pos = pos, c_.type = type, c_.dataType = dataType;
  return 0;
}
int32_t MatmulApiTilingBase::SetBiasType(TPosition pos, CubeFormat type, DataType dataType) {
  bias_.pos = pos, bias_.type = type, bias_.dataType = dataType;
  return 0;
}
int32_t MatmulApiTilingBase::SetScaleType(const char* call, MatTilingType* matrix, TPosition pos,
                                          CubeFormat type, bool isTrans) const {
  if ((pos != TPosition::GM && !IsLocal(pos)) ||
      (type != CubeFormat::ND && type != CubeFormat::NZ)) {
    Refuse(
        "%s: scales in position %d and format %d are not simulated; they lie in GM, TSCM, A1 or "
        "B1, in ND or NZ; docs/simulator.md says what is",
        call, static_cast<int>(pos), static_cast<int>(type));
    return -1;
  }
  matrix->hasSetScaleType = true;
  matrix->scalePos = pos, matrix->scaleType = type, matrix->isScaleTrans = isTrans;
  return 0;
}
int32_t MatmulApiTilingBase::SetScaleAType(TPosition scalePos, CubeFormat scaleType,
                                           bool isScaleTrans) {
  return SetScaleType("SetScaleAType", &a_, scalePos, scaleType, isScaleTrans);
}
int32_t MatmulApiTilingBase::SetScaleBType(TPosition scalePos, CubeFormat scaleType,
                                           bool isScaleTrans) {
  return SetScaleType("SetScaleBType", &b_, scalePos, scaleType, isScaleTrans);
}
int32_t MatmulApiTilingBase::SetDequantType(DequantType dequantType) {
  dequant_ = dequantType;
  return 0;
}
int32_t MatmulApiTilingBase::SetShape(int32_t m, int32_t n, int32_t k) {
  shape_ = {m, n, k};
  return 0;
}
int32_t MatmulApiTilingBase::SetOrgShape(int32_t orgMIn, int32_t orgNIn, int32_t orgKIn) {
  return SetOrgShape(orgMIn, orgNIn, orgKIn, orgKIn);
}
int32_t MatmulApiTilingBase::SetOrgShape(int32_t orgMIn, int32_t orgNIn, int32_t orgKaIn,
                                         int32_t orgKbIn) {
  org_ = {orgMIn, orgNIn, orgKaIn};
  orgKb_ = orgKbIn;
  return 0;
}
#define ACLSIM_LAYOUT_(Which, S, D)                                                           \
  int32_t MatmulApiTilingBase::Set##Which##Layout(int32_t b, int32_t s, int32_t n, int32_t g, \
                                                  int32_t d) {                                \
    isNormal_ = false;                                                                        \
    tiling_.Which##LayoutInfoB = b, tiling_.Which##LayoutInfo##S = s;                         \
    tiling_.Which##LayoutInfoN = n, tiling_.Which##LayoutInfoG = g;                           \
    tiling_.Which##LayoutInfo##D = d;                                                         \
    return 0;                                                                                 \
  }
ACLSIM_LAYOUT_(A, S, D)
ACLSIM_LAYOUT_(B, S, D)
ACLSIM_LAYOUT_(C, S1, S2)
#undef ACLSIM_LAYOUT_
int32_t MatmulApiTilingBase::SetBatchInfoForNormal(int32_t batchA, int32_t batchB, int32_t m,
                                                   int32_t n, int32_t k) {
  SetALayout(batchA, m, 1, 1, k);
  SetBLayout(batchB, n, 1, 1, k);
  SetCLayout(std::max(batchA, batchB), m, 1, 1, n);
  isNormal_ = true;
  return 0;
}
int32_t MatmulApiTilingBase::SetBatchNum(int32_t batch) {
  if (batch < 1) return -1;
  tiling_.BatchNum = batch;
  return 0;
}
int32_t MatmulApiTilingBase::EnableBias(bool isBiasIn) {
  hasBias_ = isBiasIn;
  return 0;
}
int32_t MatmulApiTilingBase::SetBias(bool isBiasIn) { return EnableBias(isBiasIn); }
// A refused extent stays as it was: a program that does not look at the status gets another split.
int32_t MatmulApiTilingBase::SetFixSplit(int32_t baseMIn, int32_t baseNIn, int32_t baseKIn) {
  const int32_t unitK = BitsOf(a_.dataType) == 0 ? kFractal : C0Of(a_.dataType);
  for (const auto& [name, to, value, unit] : {std::tuple{"baseM", &fixed_.m, baseMIn, kFractal},
                                              std::tuple{"baseN", &fixed_.n, baseNIn, kFractal},
                                              std::tuple{"baseK", &fixed_.k, baseKIn, unitK}}) {
    if (value == -1) continue;
    const int32_t most = kMostOfMmad / unit * unit;
    if (value < 1 || value % unit != 0 || value > most) {
      Refuse("SetFixSplit: %s is %d; it is a multiple of %d up to %d", name, value, unit, most);
      return -1;
    }
    *to = value;
  }
  return 0;
}
int32_t MatmulApiTilingBase::SetSplitRange(int32_t maxBaseM, int32_t maxBaseN, int32_t maxBaseK,
                                           int32_t minBaseM, int32_t minBaseN, int32_t minBaseK) {
  mostBase_ = {maxBaseM, maxBaseN, maxBaseK};
  leastBase_ = {minBaseM, minBaseN, minBaseK};
  return 0;
}
int32_t MatmulApiTilingBase::SetBufferSpace(int32_t l1Size, int32_t l0CSize, int32_t ubSize,
                                            int32_t btSize) {
  // A smaller part of a memory; never more of it than there is. What the toolkit keeps of L1 may be asked for.
  struct Memory {
    const char* name;
    int64_t* size;
    int32_t given;
    int64_t kept;
  } memories[] = {{"L1", &sizes_.l1, l1Size, kL1Kept},
                  {"L0C", &sizes_.l0c, l0CSize, 0},
                  {"UB", &sizes_.ub, ubSize, kL1Kept},
                  {"the bias table", &sizes_.bt, btSize, 0}};
  for (const Memory& memory : memories) {
    if (memory.given < -1 || memory.given > *memory.size + memory.kept) {
      Refuse("SetBufferSpace: %d bytes of %s; it is 0 to %lld, or -1 for all", memory.given,
             memory.name, static_cast<long long>(*memory.size));
      return -1;
    }
  }
  for (const Memory& memory : memories) {
    if (memory.given >= 0) *memory.size = std::min<int64_t>(*memory.size, memory.given);
  }
  return 0;
}
int32_t MatmulApiTilingBase::SetTraverse(MatrixTraverse traverse) {
  if (traverse != MatrixTraverse::NOSET) order_ = traverse == MatrixTraverse::FIRSTN ? 1 : 0;
  return 0;
}
int32_t MatmulApiTilingBase::SetMadType(MatrixMadType madType) {
  isMx_ = madType == MatrixMadType::MXMODE;  // HF32 has the sizes of float
  const aclsim::Soc& soc = aclsim::CurrentSoc();
  if (!isMx_ || !soc.matrix.scaledProducts.empty()) return 0;
  Refuse("SetMadType: %s has no products of MX types", soc.name.c_str());
  return -1;
}
int32_t MatmulApiTilingBase::SetDoubleBuffer(bool a, bool b, bool, bool, bool, bool) {
  doubles_ = a && b;
  return 0;
}
void MatmulApiTilingBase::SetMatmulConfigParams(int32_t mmConfigTypeIn, bool,
                                                ScheduleType scheduleTypeIn,
                                                MatrixTraverse traverseIn, bool) {
  config_ = mmConfigTypeIn;
  schedule_ = scheduleTypeIn;
  SetTraverse(traverseIn);
}
void MatmulApiTilingBase::SetMatmulConfigParams(const MatmulConfigParams& configParams) {
  SetMatmulConfigParams(configParams.mmConfigType, configParams.enableL1CacheUB,
                        configParams.scheduleType, configParams.traverse, configParams.enVecND2NZ);
}
int32_t MatmulApiTilingBase::SetSparse(bool isSparseIn) {
  isSparse_ = isSparseIn;
  return 0;
}

int64_t MatmulApiTilingBase::GetTiling(::TCubeTiling& tiling) {
  if (!Compute()) return -1;
  tiling = tiling_;
  return 0;
}
int64_t MatmulApiTilingBase::GetTiling(optiling::TCubeTiling& tiling) {
  if (!Compute()) return -1;
  Copy(tiling_, &tiling);
  return 0;
}

bool MatmulApiTilingBase::CheckTypes() const {
  const bool ofFloats = BitsOf(a_.dataType) >= 16;
  if (BitsOf(a_.dataType) == 0 || BitsOf(b_.dataType) == 0 || BitsOf(c_.dataType) < 8) {
    return Refuse("types %d, %d and %d of A, B and C: one of them is none that matrices have",
                  static_cast<int>(a_.dataType), static_cast<int>(b_.dataType),
                  static_cast<int>(c_.dataType));
  }
  if (BitsOf(a_.dataType) != BitsOf(b_.dataType)) {
    return Refuse("A is of %s, B of %s: both have one type. Next: SetAType and SetBType",
                  NameOf(a_.dataType), NameOf(b_.dataType));
  }
  if ((isMx_ || IsFloat4(a_.dataType) || IsFloat4(b_.dataType)) && !CheckMxTypes()) return false;
  if (ofFloats && c_.dataType == DataType::DT_INT32) {
    return Refuse("A is of %s, C of int32, which only products of int8 and int4 are",
                  NameOf(a_.dataType));
  }
  const bool ofIntegers = a_.dataType == DataType::DT_INT8 || a_.dataType == DataType::DT_INT4;
  if (ofIntegers && c_.dataType == DataType::DT_FLOAT) {
    return Refuse("A is of %s, C of float, which products of integers are not",
                  NameOf(a_.dataType));
  }
  if (isSparse_ && (a_.dataType != DataType::DT_INT8 || !b_.isTrans)) {
    return Refuse(
        "SetSparse: B is of %s and %stransposed; 4:2 sparse matrices are of int8 and "
        "transposed. Next: SetBType",
        NameOf(b_.dataType), b_.isTrans ? "" : "not ");
  }
  if (hasBias_ && BitsOf(bias_.dataType) < 16) {
    return Refuse("the bias is of %s: it has 16 or 32 bits. Next: SetBiasType",
                  NameOf(bias_.dataType));
  }
  if (hasBias_ && sizes_.coupled && IsLocal(bias_.pos)) {
    return Refuse("the bias is in L1, from where this chip has no way to L0C. Next: SetBiasType");
  }
  return true;
}

// IterateBatch of these layouts holds all matrices of a call in L1; of NORMAL the kernel's config says what it does.
bool MatmulApiTilingBase::CheckBatches() const {
  if (tiling_.BatchNum < 1 || isNormal_) return true;
  const auto matrices = [&](int64_t b, int64_t n, int64_t g) {
    return std::min<int64_t>(tiling_.BatchNum, std::max<int64_t>(b, 1) * std::max<int64_t>(n, 1) *
                                                   std::max<int64_t>(g, 1));
  };
  const int64_t ofA = matrices(tiling_.ALayoutInfoB, tiling_.ALayoutInfoN, tiling_.ALayoutInfoG);
  const int64_t ofB = matrices(tiling_.BLayoutInfoB, tiling_.BLayoutInfoN, tiling_.BLayoutInfoG);
  const int64_t k = tiling_.singleCoreK;
  const int64_t a = Bytes(a_.dataType,
                          Up(tiling_.singleCoreM, kFractal) * Up(k, C0Of(a_.dataType))),
                b = Bytes(b_.dataType,
                          Up(tiling_.singleCoreN, kFractal) * Up(k, C0Of(b_.dataType)));
  if (ofA * a + ofB * b <= sizes_.l1) return true;
  return Refuse(
      "SetBatchNum: %lld matrices of A of %lld bytes and %lld of B of %lld are more than the %lld "
      "of L1, where IterateBatch has them all. Next: fewer matrices in a call",
      static_cast<long long>(ofA), static_cast<long long>(a), static_cast<long long>(ofB),
      static_cast<long long>(b), static_cast<long long>(sizes_.l1));
}

bool MatmulApiTilingBase::CheckMxTypes() const {
  if (!isMx_) {
    return Refuse(
        "A is of %s, B of %s: types of 4 bits are multiplied with scales. Next: "
        "SetMadType(MatrixMadType::MXMODE)",
        NameOf(a_.dataType), NameOf(b_.dataType));
  }
  if (aclsim::CurrentSoc().matrix.scaledProducts.empty()) {
    return Refuse("SetMadType: %s has no products of MX types", aclsim::CurrentSoc().name.c_str());
  }
  if (!IsMx(a_.dataType) || !IsMx(b_.dataType)) {
    return Refuse(
        "A is of %s, B of %s: with MXMODE both are float8_e4m3fn or float8_e5m2, or both "
        "float4_e2m1 or float4_e1m2. Next: SetAType and SetBType",
        NameOf(a_.dataType), NameOf(b_.dataType));
  }
  if (BitsOf(c_.dataType) < 16 || c_.dataType == DataType::DT_INT32) {
    return Refuse("C is of %s: with MXMODE it is float, half or bfloat16. Next: SetCType",
                  NameOf(c_.dataType));
  }
  return true;
}

// Scales of a block in L1 are fractals of 16 x 2.
int64_t MatmulApiTilingBase::BytesOfScales(const MatTilingType& matrix, int64_t outer,
                                           int64_t k) const {
  const bool inL1 = IsLocal(matrix.hasSetScaleType ? matrix.scalePos : matrix.pos);
  return !isMx_ || inL1 ? 0 : Up(Up(outer, kFractal) * Parts(k, kPair) * 2, kScalesUnit);
}

bool MatmulApiTilingBase::IsOneTile(const Extents& shape) const {
  return Bytes(a_.dataType, Up(shape.m, kPair) * Up(shape.k, kPair)) <= sizes_.l0a &&
         Bytes(b_.dataType, Up(shape.n, kPair) * Up(shape.k, kPair)) <= sizes_.l0b &&
         Up(shape.m, kPair) * Up(shape.n, kPair) * kSumBytes <= sizes_.l0c;
}

int32_t MatmulApiTilingBase::UnitOfK() const {
  if (isMx_) return kPair;
  // An index has whole fractals of a B without its zeros.
  const int32_t c0 = C0Of(a_.dataType) * (isSparse_ ? 2 : 1);
  return !a_.isTrans && b_.isTrans ? c0 : std::max(c0, kFractal);
}

bool MatmulApiTilingBase::Compute() {
  isDone_ = false;
  sizes_.coupled = aclsim::SocOf(socVersion).coupled;
  if (sizes_.coupled) sizes_.bt = 0;
  if (!CheckTypes()) return false;
  const Extents shape = {Given(shape_.m, org_.m), Given(shape_.n, org_.n),
                         Given(shape_.k, std::max(org_.k, orgKb_))};
  if (shape.m < 1 || shape.n < 1 || shape.k < 1) {
    return Refuse("M, N and K are %d, %d and %d: each is 1 or more. Next: SetShape or SetOrgShape",
                  shape.m, shape.n, shape.k);
  }
  if (schedule_ == ScheduleType::N_BUFFER_33 && config_ != kMdlConfig) {
    return Refuse("SetMatmulConfigParams: N_BUFFER_33 goes with the config MDL, which is 1, not %d",
                  config_);
  }
  tiling_.M = Given(org_.m, shape.m);
  tiling_.N = Given(org_.n, shape.n);
  tiling_.Ka = Given(org_.k, shape.k);
  tiling_.Kb = Given(orgKb_, shape.k);
  tiling_.isBias = hasBias_ ? 1 : 0;
  if (!SplitCores(shape) || !CheckParts() || !ChooseBase()) return false;
  isDone_ = true;
  return true;
}

// Checks what depends on a core's part.
bool MatmulApiTilingBase::CheckParts() const {
  const int32_t n = tiling_.singleCoreN;
  if (sizes_.coupled && c_.pos == TPosition::VECCALC && c_.type == CubeFormat::ND &&
      Bytes(c_.dataType, n) % kBlockBytes != 0) {
    return Refuse(
        "C of ND is in UB, and its rows of %d elements are no whole blocks of %lld bytes. Next: "
        "ND_ALIGN or NZ in SetCType",
        n, static_cast<long long>(kBlockBytes));
  }
  return CheckFixed({tiling_.singleCoreM, n, tiling_.singleCoreK}) && CheckBatches();
}

// A fixed base extent is no larger than a part, up to whole fractals.
bool MatmulApiTilingBase::CheckFixed(const Extents& part) const {
  for (const auto& [name, fixed, extent, most] :
       {std::tuple{"baseM", fixed_.m, part.m, Up(part.m, kFractal)},
        std::tuple{"baseN", fixed_.n, part.n, Up(part.n, std::max(kFractal, C0Of(a_.dataType)))}}) {
    if (fixed > most) {
      return Refuse("SetFixSplit: %s is %d, and a core's part is %d: it is up to %lld", name, fixed,
                    extent, static_cast<long long>(most));
    }
  }
  return true;
}

bool MatmulApiTilingBase::CanHave(const Extents& part) const {
  // Programs leave B in GM when this says no.
  if (cores_ > 1 && !FitsL1(b_, part.n, part.k)) return false;
  if (fixed_.m > Up(part.m, kFractal) ||
      fixed_.n > Up(part.n, std::max(kFractal, C0Of(a_.dataType)))) {
    return false;
  }
  if (schedule_ != ScheduleType::N_BUFFER_33) return true;
  const int64_t rows = Up(Parts(part.m, kMostOf33), kFractal),
                depth = Up(Parts(part.k, kMostOf33), UnitOfK());
  return Bytes(a_.dataType, rows * depth) <= sizes_.l0a;
}

// A matrix that lies in L1 lies there as a whole.
bool MatmulApiTilingBase::FitsL1(const MatTilingType& matrix, int64_t outer, int64_t k) const {
  return !IsLocal(matrix.pos) || Bytes(matrix.dataType, outer * k) <= chipL1_;
}

bool MatmulApiTilingBase::SplitCores(const Extents& shape) {
  tiling_.usedCoreNum = 1;
  tiling_.singleCoreM = shape.m;
  tiling_.singleCoreN = shape.n;
  tiling_.singleCoreK = shape.k;
  return true;
}

// Rows and columns change places when a matrix is transposed: L1 has room for either way.
int64_t MatmulApiTilingBase::StepOfA(const Base& base) const {
  return (IsLocal(a_.pos) ? 0 : Bytes(a_.dataType, Up(base.m, C0Of(a_.dataType)) * base.k)) +
         BytesOfScales(a_, base.m, base.k);
}
int64_t MatmulApiTilingBase::StepOfB(const Base& base) const {
  return (IsLocal(b_.pos) ? 0 : Bytes(b_.dataType, Up(base.n, C0Of(b_.dataType)) * base.k)) +
         BytesOfScales(b_, base.n, base.k);
}
int64_t MatmulApiTilingBase::RowOfBias(const Base& base) const {
  return hasBias_ ? Up(base.n * kSumBytes, kBlockBytes) : 0;
}

// An Iterate of OUTER_PRODUCT makes two tiles, side by side across the order: L0C and the steps have both, and of MDL or in batches one
// product has all of K.
bool MatmulApiTilingBase::CompleteOuter(const Base& base, Depth* depth) const {
  const int64_t steps = Parts(tiling_.singleCoreK, base.k);
  if (steps > 1 && (config_ == kMdlConfig || tiling_.BatchNum > 0)) return false;
  const bool alongN = order_ != 1;
  const int64_t tiles =
      alongN ? Parts(tiling_.singleCoreN, base.n) : Parts(tiling_.singleCoreM, base.m);
  const int32_t two = tiles > 1 ? 2 : 1;
  if (base.dbC < two || base.db < 2)
    return false;  // one tile is loaded while the other one is multiplied
  depth->stepM = alongN ? 1 : two;
  depth->stepN = alongN ? two : 1;
  const int64_t room = sizes_.l1 - RowOfBias(base);
  for (const int64_t along : {steps, int64_t{1}}) {
    depth->stepA = alongN ? 1 : Narrow(along);
    depth->stepB = alongN ? Narrow(along) : 1;
    const int64_t bytes =
        StepOfA(base) * depth->stepM * depth->stepA + StepOfB(base) * depth->stepN * depth->stepB;
    depth->dbA = depth->dbB = doubles_ && 2 * bytes <= room ? 2 : 1;
    if (bytes <= room) return true;
  }
  return false;
}

// L1 keeps a core's part of A as a whole, of 3 x 3 tiles at most, and has the same steps of K of a column of tiles of B.
bool MatmulApiTilingBase::Complete33(const Base& base, Depth* depth) const {
  const int64_t steps = Parts(tiling_.singleCoreK, base.k),
                tilesM = Parts(tiling_.singleCoreM, base.m);
  if (steps > kMostOf33 || tilesM > kMostOf33) return false;
  depth->stepA = depth->stepB = Narrow(steps);
  depth->stepM = Narrow(tilesM);
  depth->keepsA = true;
  const int64_t a = StepOfA(base) * steps * tilesM, b = StepOfB(base) * steps;
  const int64_t room = sizes_.l1 - RowOfBias(base);
  depth->dbB = tiling_.singleCoreN > base.n && a + 2 * b <= room ? 2 : 1;
  return a + depth->dbB * b <= room;
}

// Fills in how much of the operands L1 can hold; false where not even one step fits.
bool MatmulApiTilingBase::Complete(const Base& base, Depth* depth) const {
  if (schedule_ == ScheduleType::OUTER_PRODUCT) return CompleteOuter(base, depth);
  if (schedule_ == ScheduleType::N_BUFFER_33) return Complete33(base, depth);
  const int64_t a = StepOfA(base), b = StepOfB(base);
  const int64_t room = sizes_.l1 - RowOfBias(base);
  if (a + b > room) return false;
  const int64_t steps = Parts(tiling_.singleCoreK, base.k);
  const int64_t tilesM = Parts(tiling_.singleCoreM, base.m),
                tilesN = Parts(tiling_.singleCoreN, base.n);
  const bool isOne = steps == 1 && tilesM == 1 && tilesN == 1;
  const int32_t db = doubles_ && !isOne && 2 * (a + b) <= room ? 2 : 1;
  const auto fitting = [&](int64_t bytes, int64_t kept) {
    return bytes == 0 ? steps : std::clamp<int64_t>((room - kept) / bytes, 1, steps);
  };
  const int64_t both = fitting(db * (a + b), 0);
  depth->dbA = depth->dbB = db;
  if (both == steps && tilesM * tilesN > 1) {
    depth->stepA = depth->stepB = Narrow(steps);
    depth->keepsA = order_ != 0;
    depth->keepsB = !depth->keepsA;
    return true;
  }
  // Two blocks at least, so that one is copied while the other one is multiplied.
  depth->stepA = depth->stepB = Narrow(std::min({both, int64_t{kMostDepth}, Parts(steps, 2)}));
  // One operand as a whole, which a row or column of tiles needs once, and two steps of the other one.
  const bool fitsA = order_ != 0 && steps * a + 2 * b <= room;
  const bool fitsB = order_ != 1 && steps * b + 2 * a <= room;
  const double m = tiling_.singleCoreM, n = tiling_.singleCoreN;
  const double savedA = fitsA ? m * static_cast<double>(tilesN - 1) : 0;
  const double savedB = fitsB ? n * static_cast<double>(tilesM - 1) : 0;
  if (savedA > 0 && savedA >= savedB) {
    *depth = {
        Narrow(steps), Narrow(std::min<int64_t>(fitting(2 * b, steps * a), kMostDepth)), 1, 2, true,
        false};
  } else if (savedB > 0) {
    *depth = {Narrow(std::min<int64_t>(fitting(2 * a, steps * b), kMostDepth)),
              Narrow(steps),
              2,
              1,
              false,
              true};
  }
  return true;
}

// A rough figure, to rank tiles by: the pipes of a core work side by side, the slowest one decides.
double MatmulApiTilingBase::CyclesOf(const Base& base, const Depth& depth) const {
  constexpr double kHead = 21, kFromGm = 64, kIntoA = 256, kIntoB = 128, kOfLoad = 28, kOut = 128,
                   kLine = 256;
  const double m = tiling_.singleCoreM, n = tiling_.singleCoreN, k = tiling_.singleCoreK;
  const auto tilesM = static_cast<double>(Parts(tiling_.singleCoreM, base.m)),
             tilesN = static_cast<double>(Parts(tiling_.singleCoreN, base.n)),
             steps = static_cast<double>(Parts(tiling_.singleCoreK, base.k));
  const double width = BitsOf(a_.dataType) / 8.0;
  // Rows of a block in GM, each of whole lines.
  const auto moved = [&](double rows, double columns) {
    return rows * std::ceil(columns * width / kLine) * kLine;
  };
  const double chunkA = std::min<double>(k, base.k * depth.stepA),
               chunkB = std::min<double>(k, base.k * depth.stepB);
  const double heightM = std::min<double>(m, base.m), widthN = std::min<double>(n, base.n);
  const double ofA = a_.isTrans ? moved(k, heightM) : moved(heightM, chunkA) * k / chunkA;
  const double ofB = b_.isTrans ? moved(widthN, chunkB) * k / chunkB : moved(k, widthN);
  const double mte2 =
      (ofA * tilesM * (depth.keepsA ? 1 : tilesN) + ofB * tilesN * (depth.keepsB ? 1 : tilesM)) /
      kFromGm;
  const double mte1 =
      tilesM * tilesN *
      (steps * 2 * kOfLoad + base.m * k * width / kIntoA + base.n * k * width / kIntoB);
  const double products =
      std::ceil(m / kFractal) * std::ceil(n / kFractal) * std::ceil(k / WidthOfK(a_.dataType)) +
      tilesM * tilesN * steps * kHead;
  const double out = m * n * kSumBytes / kOut;
  const double slowest = std::max({mte2, mte1, products, out});
  // The first copies do not overlap, nor does the way out of L0C if it has one tile only.
  const double first = (base.m + base.n) * static_cast<double>(base.k) * width / kFromGm;
  return slowest + first + (base.dbC == 1 ? out : out / (tilesM * tilesN)) +
         0.05 * (mte2 + mte1 + products);
}

bool MatmulApiTilingBase::ChooseBase() {
  const int32_t c0 = C0Of(a_.dataType), unitK = UnitOfK();
  // SetFixSplit knows the fractals of A's type, and not yet which matrix is transposed.
  if (fixed_.k > 0 && fixed_.k % unitK != 0) {
    return Refuse("SetFixSplit: baseK is %d; of these types it is a multiple of %d", fixed_.k,
                  unitK);
  }
  // Eight bits are transposed in squares of 32.
  const int32_t unitM = a_.isTrans ? std::max(kFractal, std::min(c0, 64)) : kFractal;
  const int32_t unitN = b_.isTrans ? kFractal : std::max(kFractal, std::min(c0, 64));
  const auto range = [&](int32_t fixed, int32_t least, int32_t most, int32_t extent, int32_t unit) {
    struct Range {
      int32_t begin, end;
    };
    if (fixed > 0) return Range{fixed, fixed};
    const int64_t end = std::min<int64_t>(
        {Up(extent, unit), Up(Given(most, kMostOfMmad), unit), kMostOfMmad / unit * unit});
    return Range{Narrow(std::min<int64_t>(Up(Given(least, unit), unit), end)), Narrow(end)};
  };
  const auto ms = range(fixed_.m, leastBase_.m, mostBase_.m, tiling_.singleCoreM, unitM);
  const auto ns = range(fixed_.n, leastBase_.n, mostBase_.n, tiling_.singleCoreN, unitN);
  const auto ks = range(fixed_.k, leastBase_.k, mostBase_.k, tiling_.singleCoreK, unitK);

  Base best;
  Depth bestDepth;
  double cycles = std::numeric_limits<double>::infinity();
  for (int32_t m = ms.begin; m <= ms.end; m += unitM) {
    for (int32_t n = ns.begin; n <= ns.end; n += unitN) {
      Base base{m, n, 0, 2, 1};
      const int64_t sums = int64_t{m} * n * kSumBytes;
      const bool hasTable = !hasBias_ || sizes_.bt == 0 || n * kSumBytes <= sizes_.bt;
      const int64_t inL0c = int64_t{m} * Up(n, unitN) * kSumBytes;
      if (inL0c > sizes_.l0c || !hasTable) break;  // so are all wider ones
      base.dbC = 2 * inL0c <= sizes_.l0c ? 2 : 1;
      Depth depth;
      const auto fitsTimes = [&](int32_t db) {
        base.db = db;
        const int64_t a = Bytes(a_.dataType, Up(m, unitM) * db),
                      b = Bytes(b_.dataType, Up(n, unitN) * db);
        const int64_t fits =
            std::min(sizes_.l0a / std::max<int64_t>(a, 1), sizes_.l0b / std::max<int64_t>(b, 1));
        base.k = Narrow(std::min<int64_t>(fits / unitK * unitK, ks.end));
        for (; base.k >= ks.begin; base.k -= unitK) {
          const int64_t largest = std::max({Bytes(a_.dataType, int64_t{m} * base.k),
                                            Bytes(b_.dataType, int64_t{n} * base.k), sums});
          if ((!sizes_.coupled || largest <= sizes_.ub) && Complete(base, &depth)) return true;
        }
        return false;
      };
      if (!fitsTimes(2) && !fitsTimes(1)) continue;
      const double now = CyclesOf(base, depth);
      if (now < cycles) cycles = now, best = base, bestDepth = depth;
    }
  }
  if (best.m == 0) {
    return Refuse(
        "no tile fits: baseM %d to %d, baseN %d to %d and baseK %d to %d of %s%s in %lld bytes of "
        "L1, %lld of L0A, %lld of L0B, %lld of L0C and %lld of the bias table. Next: smaller "
        "extents in SetFixSplit or SetSplitRange, or more bytes in SetBufferSpace",
        ms.begin, ms.end, ns.begin, ns.end, ks.begin, ks.end, NameOf(a_.dataType),
        hasBias_ ? " with a bias" : "", static_cast<long long>(sizes_.l1),
        static_cast<long long>(sizes_.l0a), static_cast<long long>(sizes_.l0b),
        static_cast<long long>(sizes_.l0c), static_cast<long long>(sizes_.bt));
  }
  const int64_t a = Bytes(a_.dataType, Up(best.m, c0) * best.k),
                b = Bytes(b_.dataType, Up(best.n, c0) * best.k);
  tiling_.baseM = best.m;
  tiling_.baseN = best.n;
  tiling_.baseK = best.k;
  tiling_.stepM = bestDepth.stepM;
  tiling_.stepN = bestDepth.stepN;
  tiling_.stepKa = bestDepth.stepA;
  tiling_.stepKb = bestDepth.stepB;
  tiling_.depthA1 = bestDepth.stepM * bestDepth.stepA * bestDepth.dbA;
  tiling_.depthB1 = bestDepth.stepN * bestDepth.stepB * bestDepth.dbB;
  tiling_.dbL0A = tiling_.dbL0B = best.db;
  tiling_.dbL0C = best.dbC;
  tiling_.mxTypePara = isMx_ ? kFactorsOfOne : 0;
  // A column of tiles of 33 and of B is done before the next one; an outer product chooses its steps for order 0.
  const bool byColumns = schedule_ != ScheduleType::INNER_PRODUCT || !bestDepth.keepsA;
  tiling_.iterateOrder = order_ >= 0 ? order_ : (byColumns ? 0 : 1);
  const int64_t sums = int64_t{best.m} * best.n * kSumBytes;
  tiling_.shareL1Size =
      Narrow(StepOfA(best) * tiling_.depthA1 + StepOfB(best) * tiling_.depthB1 + RowOfBias(best));
  tiling_.shareL0CSize = Narrow(sums * best.dbC);
  // Coupled chips bring operands and results into their layouts in UB.
  tiling_.transLength = sizes_.coupled ? Narrow(std::max({a, b, sums})) : 0;
  tiling_.shareUbSize = tiling_.transLength;
  tiling_.batchM = tiling_.batchN = tiling_.singleBatchM = tiling_.singleBatchN = 1;
  return true;
}

// A kernel with enableL1BankConflictOptimise has one block of each operand in either half of L1, or the only one in the upper half, with
// the bias; parameters of quantisation are in the lower half.
bool MatmulApiTilingBase::FitsHalvesOfL1() const {
  const auto inGm = [](TPosition pos) { return pos == TPosition::GM; };
  const auto scalesInGm = [&](const MatTilingType& matrix) {
    return !matrix.hasSetScaleType || inGm(matrix.scalePos);
  };
  if (!isDone_ || config_ != kMdlConfig || aclsim::SocOf(socVersion).npuArch != 3510 ||
      !inGm(a_.pos) || !inGm(b_.pos) || !scalesInGm(a_) || !scalesInGm(b_) ||
      (hasBias_ && !inGm(bias_.pos))) {
    return false;
  }
  const Base base{tiling_.baseM, tiling_.baseN, tiling_.baseK};
  const int64_t blockA = StepOfA(base) * tiling_.stepM * tiling_.stepKa,
                blockB = StepOfB(base) * tiling_.stepN * tiling_.stepKb;
  int64_t upper = blockA + blockB + RowOfBias(base);
  int64_t lower = dequant_ == DequantType::TENSOR ? base.n * int64_t{sizeof(uint64_t)} : 0;
  if (tiling_.depthA1 > tiling_.stepM * tiling_.stepKa) lower += blockA;
  if (tiling_.depthB1 > tiling_.stepN * tiling_.stepKb) lower += blockB;
  return std::max(upper, lower) <= chipL1_ / 2;
}

int32_t MultiCoreMatmulTiling::SetDim(int32_t dim) {
  if (dim < 1) {
    Refuse("SetDim: %d cores; there is one or more. Next: PlatformAscendC::GetCoreNumAic", dim);
    return -1;
  }
  cores_ = dim;
  return 0;
}
int32_t MultiCoreMatmulTiling::SetSingleShape(int32_t singleMIn, int32_t singleNIn,
                                              int32_t singleKIn) {
  Keep({singleMIn, singleNIn, singleKIn}, &single_);
  return 0;
}
int32_t MultiCoreMatmulTiling::SetSingleRange(int32_t maxM, int32_t maxN, int32_t maxK,
                                              int32_t minM, int32_t minN, int32_t minK) {
  most_ = {maxM, maxN, maxK};
  least_ = {minM, minN, minK};
  return 0;
}
int32_t MultiCoreMatmulTiling::SetAlignSplit(int32_t alignM, int32_t alignN, int32_t alignK) {
  Keep({alignM, alignN, alignK}, &units_);
  return 0;
}

// Each core has a rectangle of the result; with splitsK_ several have the same one and a part of K each.
bool MultiCoreMatmulTiling::SplitCores(const Extents& shape) {
  if (splitsK_ && tiling_.isBias != 0) {
    return Refuse(
        "EnableMultiCoreSplitK: with a bias, which every core would add. Next: "
        "EnableBias(false), or no split of K");
  }
  constexpr int32_t kUnit = 32;  // of fractals of any type
  struct Axis {
    int64_t extent, fixed, unit, most, least;
    // The part of a core when `cores` share the axis, or 0 where it is not allowed.
    int64_t PartOf(int64_t cores) const {
      if (fixed > 0) return std::min(fixed, extent);
      const int64_t part = std::min(extent, Up(Parts(extent, cores), unit));
      return part > most || (part < least && cores > 1) ? 0 : part;
    }
  };
  const auto axis = [](int32_t extent, int32_t fixed, int32_t unit, int32_t most, int32_t least) {
    return Axis{extent, fixed, Given(unit, kUnit), Given(most, extent), Given(least, 1)};
  };
  // Kernels copy all of a matrix into L1 where it fits: cores share the other axis.
  const auto leastOf = [&](const MatTilingType& matrix, int32_t extent, int32_t most,
                           int32_t least) {
    return IsLocal(matrix.pos) && most <= 0 && FitsL1(matrix, extent, shape.k) ? extent : least;
  };
  const Axis m =
      axis(shape.m, single_.m, units_.m, most_.m, leastOf(a_, shape.m, most_.m, least_.m));
  const Axis n =
      axis(shape.n, single_.n, units_.n, most_.n, leastOf(b_, shape.n, most_.n, least_.n));
  const Axis k =
      axis(shape.k, single_.k, isMx_ ? Narrow(Up(Given(units_.k, kPair), kPair)) : units_.k,
           most_.k, least_.k);
  // Programs of MX types count on it that a product which fits L0 stays on one core.
  const bool isOne =
      isMx_ && IsOneTile(shape) && m.PartOf(1) > 0 && n.PartOf(1) > 0 && k.PartOf(1) > 0;
  const int64_t cores = isOne ? 1 : cores_;
  shared_ = shape;
  if (!CheckFixed({m.PartOf(1) > 0 ? Narrow(m.PartOf(1)) : shape.m,
                   n.PartOf(1) > 0 ? Narrow(n.PartOf(1)) : shape.n, shape.k})) {
    return false;
  }
  double best = std::numeric_limits<double>::infinity();
  // Among equal ones that with the most parts of M: programs that have two cores count on it.
  for (int64_t inN = 1; inN <= cores; ++inN) {
    for (int64_t inM = 1; inM * inN <= cores; ++inM) {
      for (int64_t inK = 1; inK == 1 || (splitsK_ && inM * inN * inK <= cores); ++inK) {
        const int64_t partM = m.PartOf(inM), partN = n.PartOf(inN), partK = k.PartOf(inK);
        if (partM == 0 || partN == 0 || partK == 0) continue;
        if (!CanHave({Narrow(partM), Narrow(partN), Narrow(partK)})) continue;
        const int64_t used =
            Parts(m.extent, partM) * Parts(n.extent, partN) * Parts(k.extent, partK);
        const bool isFixed = m.fixed > 0 || n.fixed > 0 || k.fixed > 0;
        if (used > cores_ && !isFixed) continue;
        // Cycles of the products, of the copies in, and of the result that cores add up.
        constexpr double kProducts = 4096, kIn = 32, kOut = 64;
        const auto rows = static_cast<double>(Up(partM, kFractal)),
                   columns = static_cast<double>(Up(partN, kFractal)),
                   depth = static_cast<double>(partK);
        double cycles = rows * columns * depth / kProducts + 0.5 * (rows + columns) * depth / kIn +
                        rows * columns / kOut;
        // Programs without SetTail count on parts of one size, and those that set baseN often on one column of tiles: such
        // parts are chosen where they cost little.
        constexpr double kUneven = 1.3, kColumns = 1.25, kOverL1 = 100;
        if (m.extent % partM != 0 || n.extent % partN != 0 || k.extent % partK != 0) {
          cycles *= kUneven;
        }
        if (Fixed().n > 0 && partN > Fixed().n) {
          cycles *= kColumns;
        }
        if (!FitsL1(a_, partM, partK)) {
          cycles *= kOverL1;
        }
        if (cycles >= best) continue;
        best = cycles;
        // Each core takes several parts if the caller fixes the parts and has fewer cores than parts.
        tiling_.usedCoreNum = Narrow(std::min<int64_t>(used, cores_));
        tiling_.singleCoreM = Narrow(partM);
        tiling_.singleCoreN = Narrow(partN);
        tiling_.singleCoreK = Narrow(partK);
      }
    }
  }
  if (!std::isfinite(best)) {
    return Refuse(
        "SetSingleRange: no part of M up to %lld, N up to %lld and K up to %lld gives %d cores all "
        "of %d x %d x %d. Next: more cores in SetDim, wider ranges, a smaller base in SetFixSplit, "
        "or a B in L1 that fits",
        static_cast<long long>(m.most), static_cast<long long>(n.most),
        static_cast<long long>(k.most), cores_, shape.m, shape.n, shape.k);
  }
  return true;
}

int32_t MultiCoreMatmulTiling::GetSingleShape(int32_t& shapeM, int32_t& shapeN, int32_t& shapeK) {
  if (tiling_.singleCoreM == 0) return -1;
  shapeM = tiling_.singleCoreM;
  shapeN = tiling_.singleCoreN;
  shapeK = tiling_.singleCoreK;
  return 0;
}
int32_t MultiCoreMatmulTiling::GetCoreNum(int32_t& dim, int32_t& mDim, int32_t& nDim) {
  if (tiling_.singleCoreM == 0) return -1;
  dim = tiling_.usedCoreNum;
  mDim = Narrow(Parts(shared_.m, tiling_.singleCoreM));
  nDim = Narrow(Parts(shared_.n, tiling_.singleCoreN));
  return 0;
}
int32_t BatchMatmulTiling::GetCoreNum(int32_t& dim, int32_t& mDim, int32_t& nDim,
                                      int32_t& batchCoreM, int32_t& batchCoreN) {
  if (tiling_.singleCoreM == 0) return -1;
  dim = mDim = nDim = batchCoreM = batchCoreN = 1;
  return 0;
}

}  // namespace matmul_tiling

namespace {

// Several products share the buffers: each one's call makes them as large as it needs them.
int32_t BuffersOf(const TCubeTiling& tiling, matmul_tiling::SysTilingTempBufSize* buffers) {
  buffers->ubSize = std::max(buffers->ubSize, tiling.shareUbSize);
  buffers->l1Size = std::max(buffers->l1Size, tiling.shareL1Size);
  buffers->l0cSize = std::max(buffers->l0cSize, tiling.shareL0CSize);
  return 0;
}

}  // namespace

#define ACLSIM_MATMUL_BUFFERS_(Name)                                            \
  int32_t Name##GetTmpBufSize(optiling::TCubeTiling& tiling,                    \
                              matmul_tiling::SysTilingTempBufSize& bufSize) {   \
    return BuffersOf(matmul_tiling::Plain(tiling), &bufSize);                   \
  }                                                                             \
  int32_t Name##GetTmpBufSizeV2(TCubeTiling& tiling,                            \
                                matmul_tiling::SysTilingTempBufSize& bufSize) { \
    return BuffersOf(tiling, &bufSize);                                         \
  }
ACLSIM_MATMUL_BUFFERS_(Matmul)
ACLSIM_MATMUL_BUFFERS_(MultiCoreMatmul)
ACLSIM_MATMUL_BUFFERS_(BatchMatmul)
#undef ACLSIM_MATMUL_BUFFERS_
