// SPDX-License-Identifier: Apache-2.0
// The matrix unit: into L1, L0A, L0B, BT and FB, Mmad, and out of L0C. Struct fields, their order and their defaults are
// CANN's; src/device/cube_*.cpp has what they do and what they must keep to.
#pragma once

#include "ascendc/cube_abi.h"
#include "ascendc/data_copy.h"

enum QuantMode_t {
  NoQuant,
  F322F16,
  F322BF16,
  DEQF16,
  VDEQF16,
  QF322B8_PRE,
  VQF322B8_PRE,
  REQ8,
  VREQ8,
#if __NPU_ARCH__ == 3510
  QF322F16_PRE,
  VQF322F16_PRE,
  QF322BF16_PRE,
  VQF322BF16_PRE,
  QF322F32_PRE,
  VQF322F32_PRE,
  QF322FP8_PRE,
  VQF322FP8_PRE,
  QF322HIF8_PRE,
  VQF322HIF8_PRE,
  QF322HIF8_PRE_HYBRID,
  VQF322HIF8_PRE_HYBRID,
  QS322BF16_PRE,
  VQS322BF16_PRE,
#endif
};

// Operands of products of MX formats, in L0A and L0B, have types of their own beside those in L1.
struct mx_fp8_e4m3_t {
  uint8_t bits;
};
struct mx_fp8_e5m2_t {
  uint8_t bits;
};
namespace aclsim {
template <>
struct DTypeOf<mx_fp8_e4m3_t> {
  static constexpr DType value = DType::kE4m3;
};
template <>
struct DTypeOf<mx_fp8_e5m2_t> {
  static constexpr DType value = DType::kE5m2;
};
}  // namespace aclsim

#if __NPU_ARCH__ == 2002 || __NPU_ARCH__ == 1001
// The launch finds it in the library of a kernel that uses the matrix unit of a coupled core.
extern "C" inline __attribute__((visibility("default"))) void aclsimMatrixCode() {}
#endif

namespace AscendC {

using ::mx_fp8_e4m3_t;
using ::mx_fp8_e5m2_t;
using ::QuantMode_t;

// --- parameters -----------------------------------------------------------------------------------------------------------
struct Nd2NzParams {
  Nd2NzParams() = default;
  Nd2NzParams(uint32_t num, uint32_t n, uint32_t d, uint32_t srcMatrix, uint32_t srcD, uint32_t c0,
              uint32_t nStride, uint32_t dstMatrix)
      : ndNum(num),
        nValue(n),
        dValue(d),
        srcNdMatrixStride(srcMatrix),
        srcDValue(srcD),
        dstNzC0Stride(c0),
        dstNzNStride(nStride),
        dstNzMatrixStride(dstMatrix) {}
  uint32_t ndNum = 0;
  uint32_t nValue = 0;
  uint32_t dValue = 0;
  uint32_t srcNdMatrixStride = 0;
  uint32_t srcDValue = 0;
  uint32_t dstNzC0Stride = 0;
  uint32_t dstNzNStride = 0;
  uint32_t dstNzMatrixStride = 0;
};

struct LoadData2DParams {
  LoadData2DParams() = default;
  LoadData2DParams(uint32_t start, uint32_t repeat, uint32_t stride, uint32_t sidIn, uint32_t gap,
                   bool transpose, uint32_t mode)
      : startIndex(start),
        dstGap(gap),
        srcStride(stride),
        ifTranspose(transpose),
        repeatTimes(repeat),
        sid(sidIn),
        addrMode(mode) {}
  uint32_t startIndex = 0;
  uint32_t dstGap = 0;
  uint32_t srcStride = 0;
  bool ifTranspose = false;
  uint32_t repeatTimes = 0;
  uint32_t sid = 0;
  uint32_t addrMode = 0;
};
using LoadData2dParams = LoadData2DParams;

#if __NPU_ARCH__ == 3510
struct Dn2NzParams {
  uint32_t dnNum = 0;
  uint32_t nValue = 0;
  uint32_t dValue = 0;
  uint64_t srcDnMatrixStride = 0;
  uint64_t srcDValue = 0;
  uint32_t dstNzC0Stride = 0;
  uint32_t dstNzNStride = 0;
  uint32_t dstNzMatrixStride = 0;
};
struct LoadData2DParamsV2 {
  LoadData2DParamsV2() = default;
  LoadData2DParamsV2(uint32_t mStart, uint32_t kStart, uint32_t mSteps, uint32_t kSteps,
                     int32_t stride, uint32_t toStride, bool transpose, uint8_t sidIn)
      : mStartPosition(mStart),
        kStartPosition(kStart),
        mStep(mSteps),
        kStep(kSteps),
        srcStride(stride),
        dstStride(toStride),
        ifTranspose(transpose),
        sid(sidIn) {}
  uint32_t mStartPosition = 0;
  uint32_t kStartPosition = 0;
  uint32_t mStep = 0;
  uint32_t kStep = 0;
  int32_t srcStride = 0;
  uint32_t dstStride = 0;
  bool ifTranspose = false;
  uint8_t sid = 0;
};
struct LoadData2DMxParams {
  LoadData2DMxParams() = default;
  LoadData2DMxParams(uint32_t xStart, uint32_t yStart, uint32_t xSteps, uint32_t ySteps,
                     uint32_t stride, uint32_t toStride)
      : xStartPosition(xStart),
        yStartPosition(yStart),
        xStep(xSteps),
        yStep(ySteps),
        srcStride(stride),
        dstStride(toStride) {}
  uint32_t xStartPosition = 0;
  uint32_t yStartPosition = 0;
  uint32_t xStep = 0;
  uint32_t yStep = 0;
  uint32_t srcStride = 0;
  uint32_t dstStride = 0;
};
#endif

struct LoadData2dTransposeParams {
  LoadData2dTransposeParams() = default;
  LoadData2dTransposeParams(uint32_t start, uint32_t repeat, uint32_t stride, uint32_t gap,
                            uint32_t fracGap, uint32_t mode = 0)
      : startIndex(start),
        repeatTimes(repeat),
        srcStride(stride),
        dstGap(gap),
        dstFracGap(fracGap),
        addrMode(mode) {}
  uint32_t startIndex = 0;
  uint32_t repeatTimes = 0;
  uint32_t srcStride = 0;
  uint32_t dstGap = 0;
  uint32_t dstFracGap = 0;
  uint32_t addrMode = 0;
};
struct LoadData2dTransposeParamsV2 {
  LoadData2dTransposeParamsV2() = default;
  LoadData2dTransposeParamsV2(uint32_t start, uint32_t repeat, uint32_t stride, uint32_t gap,
                              uint32_t fracGap, uint32_t srcGap, uint32_t mode = 0)
      : startIndex(start),
        repeatTimes(repeat),
        srcStride(stride),
        dstGap(gap),
        dstFracGap(fracGap),
        srcFracGap(srcGap),
        addrMode(mode) {}
  uint32_t startIndex = 0;
  uint32_t repeatTimes = 0;
  uint32_t srcStride = 0;
  uint32_t dstGap = 0;
  uint32_t dstFracGap = 0;
  uint32_t srcFracGap = 0;
  uint32_t addrMode = 0;
};

enum class FmatrixMode : uint8_t { FMATRIX_LEFT = 0, FMATRIX_RIGHT };

struct IsResetLoad3dConfig {
  bool isSetFMatrix;
  bool isSetPadding;
};
constexpr IsResetLoad3dConfig IS_RESER_LOAD3D_DEFAULT_CONFIG = {true, true};

constexpr int32_t PAD_SIZE = 4;

template <typename T>
struct LoadData3DParamsV2 {
  LoadData3DParamsV2() = default;
  LoadData3DParamsV2(const uint8_t padListIn[PAD_SIZE], uint32_t h, uint32_t w, uint32_t channels,
                     uint32_t k, uint32_t m, uint32_t kStart, uint32_t mStart, uint32_t strideWIn,
                     uint32_t strideHIn, uint32_t filterWIn, uint32_t filterHIn, uint32_t dilationW,
                     uint32_t dilationH, bool transpose, bool smallK, T pad)
      : l1H(h),
        l1W(w),
        channelSize(channels),
        kExtension(k),
        mExtension(m),
        kStartPt(kStart),
        mStartPt(mStart),
        strideW(strideWIn),
        strideH(strideHIn),
        filterW(filterWIn),
        filterH(filterHIn),
        dilationFilterW(dilationW),
        dilationFilterH(dilationH),
        enTranspose(transpose),
        enSmallK(smallK),
        padValue(pad) {
    for (int32_t i = 0; i < PAD_SIZE; ++i) {
      padList[i] = padListIn[i];
    }
  }
  uint8_t padList[PAD_SIZE] = {};
  uint32_t l1H = 0;
  uint32_t l1W = 0;
  uint32_t channelSize = 0;
  uint32_t kExtension = 0;
  uint32_t mExtension = 0;
  uint32_t kStartPt = 0;
  uint32_t mStartPt = 0;
  uint32_t strideW = 1;
  uint32_t strideH = 1;
  uint32_t filterW = 1;
  uint32_t filterH = 1;
  uint32_t dilationFilterW = 1;
  uint32_t dilationFilterH = 1;
  bool enTranspose = false;
  bool enSmallK = false;
  T padValue{};
  bool filterSizeW = false;
  bool filterSizeH = false;
  bool fMatrixCtrl = false;
};

struct LoadData3DParamsV2Pro {
  uint32_t channelSize = 0;
  bool enTranspose = false;
  bool enSmallK = false;
  bool filterSizeW = false;
  bool filterSizeH = false;
  bool fMatrixCtrl = false;
  uint64_t extConfig = 0;
  uint64_t filterConfig = 0x10101010101;
};

struct LoadDataRepeatParam {
  LoadDataRepeatParam() = default;
  LoadDataRepeatParam(uint32_t stride, uint32_t time, uint32_t mode)
      : repeatStride(stride), repeatTime(time), repeatMode(mode) {}
  uint32_t repeatStride = 0;
  uint32_t repeatTime = 1;
  uint32_t repeatMode = 0;
};

template <typename T>
struct InitConstValueParams {
  InitConstValueParams() = default;
  InitConstValueParams(uint32_t repeat, uint32_t blocks, uint32_t gap, T value)
      : repeatTimes(repeat), blockNum(blocks), dstGap(gap), initValue(value) {}
  InitConstValueParams(uint32_t repeat, T value) : repeatTimes(repeat), initValue(value) {}
  uint32_t repeatTimes = 0;
  uint32_t blockNum = 0;
  uint32_t dstGap = 0;
  T initValue{};
};

struct MmadParams {
  MmadParams() = default;
  MmadParams(uint32_t mIn, uint32_t nIn, uint32_t kIn, bool bias, int32_t offset, bool sparse,
             bool winogradA, bool winogradB)
      : m(mIn),
        n(nIn),
        k(kIn),
        isBias(bias),
        fmOffset(offset),
        enSsparse(sparse),
        enWinogradA(winogradA),
        enWinogradB(winogradB) {}
  MmadParams(uint32_t mIn, uint32_t nIn, uint32_t kIn, uint8_t unit, bool source, bool initial)
      : m(mIn), n(nIn), k(kIn), unitFlag(unit), cmatrixSource(source), cmatrixInitVal(initial) {}
  uint32_t m = 0;
  uint32_t n = 0;
  uint32_t k = 0;
  bool isBias = false;
  int32_t fmOffset = 0;
  bool enSsparse = false;
  bool enWinogradA = false;
  bool enWinogradB = false;
  uint8_t unitFlag = 0;
  bool kDirectionAlign = false;
  bool cmatrixSource = false;
  bool cmatrixInitVal = true;
#if __NPU_ARCH__ == 3510
  bool disableGemv = false;
#endif
};

enum class HF32Mode : uint8_t { DISABLE = 0, ENABLE = 1 };
enum class HF32TransMode : uint8_t { NEAREST_EVEN = 0, NEAREST_ZERO = 1 };

enum class CO2Layout : uint8_t { NZ = 0, ROW_MAJOR, COLUMN_MAJOR };
struct FixpipeConfig {
  CO2Layout format;
#if __NPU_ARCH__ == 3510
  bool isToUB = false;
#endif
};
constexpr FixpipeConfig CFG_NZ = {CO2Layout::NZ};
constexpr FixpipeConfig CFG_ROW_MAJOR = {CO2Layout::ROW_MAJOR};
constexpr FixpipeConfig CFG_COLUMN_MAJOR = {CO2Layout::COLUMN_MAJOR};

struct FixpipeParamsV220 {
  FixpipeParamsV220() = default;
  FixpipeParamsV220(uint32_t nIn, uint32_t mIn, uint32_t srcStrideIn, uint32_t dstStrideIn,
                    bool relu, QuantMode_t quant = QuantMode_t::NoQuant, uint64_t scalar = 0,
                    uint32_t num = 1, uint32_t srcNd = 0, uint32_t dstNd = 0, uint8_t unit = 0)
      : nSize(nIn),
        mSize(mIn),
        srcStride(srcStrideIn),
        dstStride(dstStrideIn),
        quantPre(quant),
        deqScalar(scalar),
        ndNum(num),
        srcNdStride(srcNd),
        dstNdStride(dstNd),
        reluEn(relu),
        unitFlag(unit) {}
  uint32_t nSize = 0;
  uint32_t mSize = 0;
  uint32_t srcStride = 0;
  uint32_t dstStride = 0;
  QuantMode_t quantPre = QuantMode_t::NoQuant;
  uint64_t deqScalar = 0;
  uint32_t ndNum = 1;
  uint32_t srcNdStride = 0;
  uint32_t dstNdStride = 0;
  bool reluEn = false;
  uint8_t unitFlag = 0;
  bool isChannelSplit = false;
};

#if __NPU_ARCH__ == 3510
struct Nz2NdParams {
  uint32_t ndNum = 1;
  uint32_t srcNdStride = 0;
  uint32_t dstNdStride = 0;
};
struct Nz2DnParams {
  uint32_t dnNum = 1;
  uint32_t srcNzMatrixStride = 0;
  uint32_t dstDnMatrixStride = 0;
  uint32_t srcNzC0Stride = 0;
};
template <CO2Layout format>
struct TransformParams {
  using PARAMS = uint8_t;
};
template <>
struct TransformParams<CO2Layout::ROW_MAJOR> {
  using PARAMS = Nz2NdParams;
};
template <>
struct TransformParams<CO2Layout::COLUMN_MAJOR> {
  using PARAMS = Nz2DnParams;
};
template <CO2Layout format = CO2Layout::ROW_MAJOR>
struct FixpipeParamsArch3510 {
  FixpipeParamsArch3510() = default;
  FixpipeParamsArch3510(uint32_t nIn, uint32_t mIn, uint32_t srcStrideIn, uint32_t dstStrideIn)
      : nSize(nIn), mSize(mIn), srcStride(srcStrideIn), dstStride(dstStrideIn) {}
  uint32_t nSize = 0;
  uint32_t mSize = 0;
  uint32_t srcStride = 0;
  uint32_t dstStride = 0;
  QuantMode_t quantPre = QuantMode_t::NoQuant;
  uint64_t deqScalar = 0;
  bool reluEn = false;
  uint8_t unitFlag = 0;
  typename TransformParams<format>::PARAMS params{};
  uint8_t dualDstCtl = 0;
  bool subBlockId = false;
  bool isChannelSplit = false;
};
#else
// The older form: bursts of columns, with gaps for strides.
struct QuantParams {
  QuantParams() = default;
  explicit QuantParams(QuantMode_t mode) : quantPre(mode) {}
  QuantParams(QuantMode_t mode, uint64_t scalar) : quantPre(mode), deqScalar(scalar) {}
  QuantMode_t quantPre = QuantMode_t::NoQuant;
  uint64_t deqScalar = 0;
};
struct Nz2NdParams {
  Nz2NdParams() = default;
  Nz2NdParams(bool en, uint32_t num, uint32_t srcStride, uint32_t dstStride, uint32_t n)
      : nz2ndEn(en), ndNum(num), srcNdStride(srcStride), dstNdStride(dstStride), originalNSize(n) {}
  bool nz2ndEn = false;
  uint32_t ndNum = 1;
  uint32_t srcNdStride = 0;
  uint32_t dstNdStride = 0;
  uint32_t originalNSize = 0;
};
template <typename T>
struct FixpipeParams {
  FixpipeParams() = default;
  FixpipeParams(uint32_t count, uint32_t len, uint32_t srcGap, uint32_t dstGap)
      : cburstNum(count), burstLen(len), srcStride(srcGap), dstStride(dstGap) {}
  uint32_t cburstNum = 1;
  uint32_t burstLen = 1;
  uint32_t srcStride = 0;
  uint32_t dstStride = 0;
  QuantParams quantParams;
  bool reluEn = false;
  Nz2NdParams nz2ndParams;
  uint8_t unitFlag = 0;
};
#endif

struct DataCopyCO12DstParams {
  DataCopyCO12DstParams() = default;
  DataCopyCO12DstParams(uint32_t n, uint32_t m, uint32_t dstStrideIn, uint32_t srcStrideIn,
                        QuantMode_t quant, uint8_t relu, bool split, bool nd)
      : nSize(n),
        mSize(m),
        dstStride(dstStrideIn),
        srcStride(srcStrideIn),
        quantPre(quant),
        reluPre(relu),
        channelSplit(split),
        nz2ndEn(nd) {}
  uint8_t sid = 0;
  uint32_t nSize = 0;
  uint32_t mSize = 0;
  uint32_t dstStride = 0;
  uint32_t srcStride = 0;
  uint8_t unitFlag = 0;
  uint8_t clipReluPre = 0;
  uint8_t eltWiseOp = 0;
  QuantMode_t quantPre = QuantMode_t::NoQuant;
  uint8_t reluPre = 0;
  bool channelSplit = false;
  bool nz2ndEn = false;
};

namespace detail {

#ifdef __NPU_ARCH__
constexpr int kArch = __NPU_ARCH__;
#else
constexpr int kArch = 0;
#endif
// Calls of another architecture's matrix unit do not compile.
#if __NPU_ARCH__ == 2201 || __NPU_ARCH__ == 3510
template <typename...>
constexpr bool kHasCube = true;
inline void UseMatrix() {}
#elif __NPU_ARCH__ == 2002 || __NPU_ARCH__ == 1001
template <typename...>
constexpr bool kHasCube = true;
inline void UseMatrix() { __asm__ volatile("" : : "r"(&aclsimMatrixCode)); }
#else
template <typename...>
constexpr bool kHasCube = false;
inline void UseMatrix() {}
#endif
template <typename... T>
constexpr bool kDropped = detail::kArch == 3510 && (std::is_same_v<T, int4b_t> || ...);
#define ACLSIM_CUBE(Name, ...)                                                                    \
  static_assert(detail::kHasCube<__VA_ARGS__>,                                                    \
                "matrix units: " Name                                                             \
                " is simulated for architectures 2201, 3510, 2002 and 1001 (Atlas A2 and A3, "    \
                "950, 310P, 910) only; docs/simulator.md says what is");                          \
  static_assert(!detail::kDropped<__VA_ARGS__>,                                                   \
                Name " of int4b_t does not exist on architecture 3510: cast it to int8_t first"); \
  detail::UseMatrix()
// Only 2201 has this, or it is simulated for 2201 alone.
#define ACLSIM_OF_2201(Name, ...)                                              \
  static_assert(detail::kHasCube<__VA_ARGS__> && detail::kArch == 2201,        \
                "matrix units: " Name                                          \
                " is simulated for architecture 2201 (Atlas A2 and A3) only; " \
                "docs/simulator.md says what is")

template <typename...>
constexpr bool kOf3510 = detail::kArch == 3510;
template <typename T>
constexpr bool kNibbles = std::is_same_v<T, int4b_t> || std::is_same_v<T, fp4x2_e2m1_t> ||
                          std::is_same_v<T, fp4x2_e1m2_t>;
template <typename T>
constexpr uint8_t kBits = kNibbles<T> ? 4 : 8 * sizeof(T);
// Operands that carry scales.
template <typename T>
constexpr bool kScaled = std::is_same_v<T, mx_fp8_e4m3_t> || std::is_same_v<T, mx_fp8_e5m2_t> ||
                         std::is_same_v<T, fp4x2_e2m1_t> || std::is_same_v<T, fp4x2_e1m2_t>;

inline aclsim::Load2dCtl CtlOf(const LoadData2DParams& p, uint8_t bits) {
  aclsim::Load2dCtl ctl;
  ctl.startIndex = p.startIndex;
  ctl.repeatTimes = p.repeatTimes;
  ctl.srcStride = p.srcStride;
  ctl.dstGap = p.dstGap;
  ctl.transpose = p.ifTranspose;
  ctl.descending = p.addrMode == 1;
  ctl.bits = bits;
  return ctl;
}
template <typename Params>
aclsim::Load2dCtl TransposeCtl(const Params& p, uint8_t bits) {
  aclsim::Load2dCtl ctl;
  ctl.startIndex = p.startIndex;
  ctl.repeatTimes = p.repeatTimes;
  ctl.srcStride = p.srcStride;
  ctl.dstGap = p.dstGap;
  ctl.dstFracGap = p.dstFracGap;
  ctl.descending = p.addrMode == 1;
  ctl.bits = bits;
  return ctl;
}
inline aclsim::FmatrixCtl MapOf(uint32_t l1H, uint32_t l1W, const uint8_t pad[PAD_SIZE]) {
  aclsim::FmatrixCtl map;
  map.l1H = l1H;
  map.l1W = l1W;
  for (int32_t i = 0; i < PAD_SIZE; ++i) {
    map.pad[i] = pad[i];
  }
  return map;
}
inline aclsim::MmadCtl CtlOf(const MmadParams& p, uint8_t bits) {
  aclsim::MmadCtl ctl;
  ctl.m = p.m;
  ctl.n = p.n;
  ctl.k = p.k;
  ctl.unitFlag = p.unitFlag;
  ctl.alignsK = p.kDirectionAlign;
  ctl.fromTable = p.cmatrixSource;
  ctl.fromZero = p.cmatrixInitVal && !p.isBias;
  ctl.bits = bits;
#if __NPU_ARCH__ == 3510
  ctl.noVector = p.disableGemv;
#endif
  return ctl;
}
inline aclsim::FixpipeCtl CtlOf(const FixpipeParamsV220& p, CO2Layout layout, aclsim::DType src,
                                aclsim::DType dst) {
  aclsim::FixpipeCtl ctl;
  ctl.n = p.nSize;
  ctl.m = p.mSize;
  ctl.srcStride = p.srcStride;
  ctl.dstStride = p.dstStride;
  ctl.quant = static_cast<aclsim::Quant>(p.quantPre);
  ctl.scalar = p.deqScalar;
  ctl.toNd = layout == CO2Layout::ROW_MAJOR;
  ctl.ndNum = p.ndNum;
  ctl.srcNdStride = p.srcNdStride;
  ctl.dstNdStride = p.dstNdStride;
  ctl.relu = p.reluEn ? 1 : 0;
  ctl.unitFlag = p.unitFlag;
  ctl.channelSplit = p.isChannelSplit;
  ctl.src = src;
  ctl.dst = dst;
  return ctl;
}
#if __NPU_ARCH__ == 3510
template <CO2Layout layout>
aclsim::FixpipeCtl CtlOf(const FixpipeParamsArch3510<layout>& p, aclsim::DType src,
                         aclsim::DType dst, uint32_t dstBytes) {
  constexpr uint32_t kColumns = 16;
  aclsim::FixpipeCtl ctl;
  ctl.n = p.nSize;
  ctl.m = p.mSize;
  ctl.srcStride = p.srcStride;
  ctl.dstStride = p.dstStride;
  ctl.dstUnit = dstBytes;
  ctl.quant = static_cast<aclsim::Quant>(p.quantPre);
  ctl.scalar = p.deqScalar;
  ctl.srcNdUnit = kColumns;
  if constexpr (layout == CO2Layout::ROW_MAJOR) {
    ctl.toNd = true;
    ctl.ndNum = p.params.ndNum;
    ctl.srcNdStride = p.params.srcNdStride;
    ctl.dstNdStride = p.params.dstNdStride;
  } else if constexpr (layout == CO2Layout::COLUMN_MAJOR) {
    ctl.toDn = true;
    ctl.ndNum = p.params.dnNum;
    ctl.srcNdStride = p.params.srcNzMatrixStride;
    ctl.dstNdStride = p.params.dstDnMatrixStride;
    ctl.srcRow = p.params.srcNzC0Stride;
  }
  ctl.relu = p.reluEn ? 1 : 0;
  ctl.unitFlag = p.unitFlag;
  ctl.channelSplit = p.isChannelSplit;
  ctl.src = src;
  ctl.dst = dst;
  return ctl;
}
#else
template <typename T>
aclsim::FixpipeCtl CtlOf(const FixpipeParams<T>& p, aclsim::DType src, aclsim::DType dst,
                         uint32_t dstBytes) {
  constexpr uint32_t kColumns = 16;
  aclsim::FixpipeCtl ctl;
  ctl.m = uint64_t{p.burstLen} * ONE_BLK_SIZE / (kColumns * sizeof(T));
  ctl.n = p.nz2ndParams.nz2ndEn ? p.nz2ndParams.originalNSize : uint64_t{p.cburstNum} * kColumns;
  ctl.srcStride = p.srcStride * kColumns + (ctl.m + kColumns - 1) / kColumns * kColumns;
  ctl.dstStride = p.nz2ndParams.nz2ndEn
                      ? p.dstStride
                      : p.dstStride + uint64_t{p.burstLen} * dstBytes / uint32_t{sizeof(T)};
  ctl.quant = static_cast<aclsim::Quant>(p.quantParams.quantPre);
  ctl.scalar = p.quantParams.deqScalar;
  ctl.toNd = p.nz2ndParams.nz2ndEn;
  ctl.ndNum = p.nz2ndParams.ndNum;
  ctl.srcNdStride = p.nz2ndParams.srcNdStride;
  ctl.dstNdStride = p.nz2ndParams.dstNdStride;
  ctl.relu = p.reluEn ? 1 : 0;
  ctl.unitFlag = p.unitFlag;
  ctl.src = src;
  ctl.dst = dst;
  return ctl;
}
#endif
inline aclsim::FixpipeCtl CtlOf(const DataCopyCO12DstParams& p, aclsim::DType src,
                                aclsim::DType dst) {
  aclsim::FixpipeCtl ctl;
  ctl.n = p.nSize;
  ctl.m = p.mSize;
  ctl.srcStride = p.srcStride;
  ctl.dstStride = p.dstStride;
  ctl.quant = static_cast<aclsim::Quant>(p.quantPre);
  ctl.scalarSet = false;
  ctl.toNd = p.nz2ndEn;
  ctl.ndSet = false;
  ctl.relu = p.reluPre;
  ctl.unitFlag = p.unitFlag;
  ctl.channelSplit = p.channelSplit;
  ctl.src = src;
  ctl.dst = dst;
  return ctl;
}

}  // namespace detail

// --- into L1, BT and FB ---------------------------------------------------------------------------------------------------
template <typename T>
void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const Nd2NzParams& p) {
  ACLSIM_CUBE("DataCopy of ND to NZ", T);
  aclsim::CubeNd2Nz(dst, src.GetPhyAddr(),
                    {p.ndNum, p.nValue, p.dValue, p.srcNdMatrixStride, p.srcDValue, p.dstNzC0Stride,
                     p.dstNzNStride, p.dstNzMatrixStride});
  ACLSIM_KEEP_FRAME();
}
#if __NPU_ARCH__ == 3510
// The matrix in GM has its columns one behind the other.
template <typename T>
void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const Dn2NzParams& p) {
  ACLSIM_CUBE("DataCopy of DN to NZ", T);
  aclsim::Nd2NzCtl ctl = {p.dnNum,     p.nValue,        p.dValue,       p.srcDnMatrixStride,
                          p.srcDValue, p.dstNzC0Stride, p.dstNzNStride, p.dstNzMatrixStride};
  ctl.fromColumns = true;
  aclsim::CubeNd2Nz(dst, src.GetPhyAddr(), ctl);
  ACLSIM_KEEP_FRAME();
}
#endif
// Into the bias table, where half becomes float.
template <typename T, typename U, typename = std::enable_if_t<!std::is_same_v<T, U>>>
void DataCopy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const DataCopyParams& p) {
  ACLSIM_CUBE("DataCopy with another type", T);
  aclsim::CubeCopyToTable(dst, src, p.blockCount, p.blockLen, p.srcStride, p.dstStride);
  ACLSIM_KEEP_FRAME();
}
template <typename T, typename U, typename = std::enable_if_t<!std::is_same_v<T, U>>>
void DataCopy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const uint32_t count) {
  ACLSIM_CUBE("DataCopy with another type", T);
  constexpr uint32_t kUnit = detail::kArch == 3510 ? 32 : 64;
  aclsim::CubeCopyToTable(dst, src, 1, (count * sizeof(U) + kUnit - 1) / kUnit, 0, 0);
  ACLSIM_KEEP_FRAME();
}

// --- into L0A and L0B -----------------------------------------------------------------------------------------------------
template <typename T>
void LoadData(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LoadData2DParams& p) {
  ACLSIM_CUBE("LoadData", T);
  aclsim::CubeLoad2d(dst, src, detail::CtlOf(p, detail::kBits<T>));
  ACLSIM_KEEP_FRAME();
}
template <typename T>
void LoadData(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const LoadData2DParams& p) {
  ACLSIM_CUBE("LoadData", T);
  aclsim::CubeLoad2dGm(dst, src.GetPhyAddr(), detail::CtlOf(p, detail::kBits<T>));
  ACLSIM_KEEP_FRAME();
}
#if __NPU_ARCH__ == 3510
namespace detail {
inline aclsim::Load2dWindowCtl CtlOf(const LoadData2DParamsV2& p, uint8_t bits) {
  return {p.mStartPosition, p.kStartPosition, p.mStep,       p.kStep,
          p.srcStride,      p.dstStride,      p.ifTranspose, bits};
}
}  // namespace detail
template <typename T>
void LoadData(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LoadData2DParamsV2& p) {
  ACLSIM_CUBE("LoadData", T);
  aclsim::CubeLoad2dWindow(dst, src, detail::CtlOf(p, detail::kBits<T>));
  ACLSIM_KEEP_FRAME();
}
// With scales of 32 elements along K each.
template <typename T, typename U>
void LoadData(const LocalTensor<U>& dst, const LocalTensor<T>& src,
              const LocalTensor<fp8_e8m0_t>& srcMx, const LoadData2DParamsV2& p,
              const LoadData2DMxParams& mx) {
  ACLSIM_CUBE("LoadData of MX formats", T);
  static_assert(detail::kBits<T> == detail::kBits<U>, "LoadData: both have elements of one size");
  aclsim::CubeLoad2dWindow(dst, src, detail::CtlOf(p, detail::kBits<T>));
  aclsim::CubeLoadScales(
      dst, srcMx,
      {mx.xStartPosition, mx.yStartPosition, mx.xStep, mx.yStep, mx.srcStride, mx.dstStride});
  ACLSIM_KEEP_FRAME();
}
template <typename T>
void LoadData(const LocalTensor<T>&, const GlobalTensor<T>&, const LoadData2DParamsV2&) {
  static_assert(sizeof(T) == 0,
                "matrix units: LoadData of LoadData2DParamsV2 from GM is not simulated yet; "
                "docs/simulator.md says what is");
}
#endif
template <typename T>
void LoadDataWithTranspose(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                           const LoadData2dTransposeParams& p) {
  ACLSIM_CUBE("LoadDataWithTranspose", T);
  aclsim::CubeLoadTransposed(dst, src, detail::TransposeCtl(p, detail::kBits<T>));
  ACLSIM_KEEP_FRAME();
}
template <typename T>
void LoadDataWithTranspose(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                           const LoadData2dTransposeParamsV2& p) {
  ACLSIM_CUBE("LoadDataWithTranspose", T);
  aclsim::Load2dCtl ctl = detail::TransposeCtl(p, detail::kBits<T>);
  ctl.srcFracGap = p.srcFracGap;
  ctl.fractals = true;
  aclsim::CubeLoadTransposed(dst, src, ctl);
  ACLSIM_KEEP_FRAME();
}
template <typename T, const IsResetLoad3dConfig& config = IS_RESER_LOAD3D_DEFAULT_CONFIG,
          typename U = T>
void LoadData(const LocalTensor<T>& dst, const LocalTensor<T>& src,
              const LoadData3DParamsV2<U>& p) {
  ACLSIM_CUBE("LoadData of feature maps", T);
  constexpr uint32_t kMoreFilter = 256;
  aclsim::Load3dCtl ctl;
  ctl.map = detail::MapOf(p.l1H, p.l1W, p.padList);
  ctl.setsMap = config.isSetFMatrix;
  ctl.setsPadding = config.isSetPadding;
  ctl.padding = detail::BitsOfElement(p.padValue);
  ctl.channelSize = p.channelSize;
  ctl.kExtension = p.kExtension;
  ctl.mExtension = p.mExtension;
  ctl.kStart = p.kStartPt;
  ctl.mStart = p.mStartPt;
  ctl.strideW = p.strideW;
  ctl.strideH = p.strideH;
  ctl.filterW = p.filterW + (p.filterSizeW ? kMoreFilter : 0);
  ctl.filterH = p.filterH + (p.filterSizeH ? kMoreFilter : 0);
  ctl.dilationW = p.dilationFilterW;
  ctl.dilationH = p.dilationFilterH;
  ctl.transpose = p.enTranspose;
  ctl.bits = detail::kBits<T>;
  aclsim::CubeLoad3d(dst, src, ctl);
  ACLSIM_KEEP_FRAME();
}
template <typename T>
void LoadData(const LocalTensor<T>& dst, const LocalTensor<T>& src,
              const LoadData3DParamsV2Pro& p) {
  ACLSIM_CUBE("LoadData of feature maps", T);
  constexpr uint32_t kMoreFilter = 256;
  const auto part = [](uint64_t word, int shift, uint64_t mask) { return word >> shift & mask; };
  aclsim::Load3dCtl ctl;
  ctl.setsMap = ctl.setsPadding = false;
  ctl.channelSize = p.channelSize;
  ctl.mStart = part(p.extConfig, 48, 0xFFFF);
  ctl.kStart = part(p.extConfig, 32, 0xFFFF);
  ctl.mExtension = part(p.extConfig, 16, 0xFFFF);
  ctl.kExtension = part(p.extConfig, 0, 0xFFFF);
  ctl.dilationH = part(p.filterConfig, 40, 0xFF);
  ctl.dilationW = part(p.filterConfig, 32, 0xFF);
  ctl.filterH = part(p.filterConfig, 24, 0xFF) + (p.filterSizeH ? kMoreFilter : 0);
  ctl.filterW = part(p.filterConfig, 16, 0xFF) + (p.filterSizeW ? kMoreFilter : 0);
  ctl.strideH = part(p.filterConfig, 8, 0xFF);
  ctl.strideW = part(p.filterConfig, 0, 0xFF);
  ctl.transpose = p.enTranspose;
  ctl.bits = detail::kBits<T>;
  aclsim::CubeLoad3d(dst, src, ctl);
  ACLSIM_KEEP_FRAME();
}
inline void SetFmatrix(uint32_t l1H, uint32_t l1W, const uint8_t padList[PAD_SIZE],
                       const FmatrixMode& mode) {
  if (mode != FmatrixMode::FMATRIX_LEFT) {
    aclsim::AssertFail("SetFmatrix: the mode is FMATRIX_LEFT", __FILE__, __LINE__, "");
  }
  aclsim::CubeSetFmatrix(detail::MapOf(l1H, l1W, padList));
}
template <typename T>
void SetLoadDataPaddingValue(const T padValue) {
  aclsim::CubeSetPadding(detail::BitsOfElement(padValue));
}
inline void SetLoadDataRepeat(const LoadDataRepeatParam& p) {
  aclsim::CubeSetRepeat(p.repeatStride, p.repeatTime, p.repeatMode);
}
inline void SetLoadDataBoundary(uint32_t boundaryValue) { aclsim::CubeSetBoundary(boundaryValue); }

template <typename T, typename U = T>
void InitConstValue(const LocalTensor<T>& dst, const InitConstValueParams<U>& p) {
  ACLSIM_CUBE("InitConstValue", T);
  aclsim::CubeFill(dst, {p.repeatTimes, p.blockNum, p.dstGap, detail::BitsOfElement(p.initValue)});
  ACLSIM_KEEP_FRAME();
}
template <typename T, typename U = T>
void Fill(const LocalTensor<T>& dst, const InitConstValueParams<U>& p) {
  InitConstValue(dst, p);
}

// --- Mmad -----------------------------------------------------------------------------------------------------------------
namespace detail {
template <typename U, typename S>
void CheckPair() {
  static_assert(std::is_same_v<U, S> || detail::kArch != 2201,
                "Mmad: both matrices have one type on architecture 2201");
  static_assert(kBits<U> == kBits<S> && kScaled<U> == kScaled<S>,
                "Mmad: both matrices have elements of one size");
}
}  // namespace detail
template <typename T, typename U, typename S>
void Mmad(const LocalTensor<T>& dst, const LocalTensor<U>& fm, const LocalTensor<S>& filter,
          const MmadParams& p) {
  ACLSIM_CUBE("Mmad", T, U, S);
  detail::CheckPair<U, S>();
  aclsim::MmadCtl ctl = detail::CtlOf(p, detail::kBits<U>);
  ctl.scaled = detail::kScaled<U>;
  aclsim::CubeMmad(dst, fm, filter, {}, ctl);
  ACLSIM_KEEP_FRAME();
}
template <typename T, typename U, typename S, typename V>
void Mmad(const LocalTensor<T>& dst, const LocalTensor<U>& fm, const LocalTensor<S>& filter,
          const LocalTensor<V>& bias, const MmadParams& p) {
  ACLSIM_CUBE("Mmad", T, U, S);
  detail::CheckPair<U, S>();
  aclsim::MmadCtl ctl = detail::CtlOf(p, detail::kBits<U>);
  ctl.scaled = detail::kScaled<U>;
  ctl.hasBias = true;
  aclsim::CubeMmad(dst, fm, filter, bias, ctl);
  ACLSIM_KEEP_FRAME();
}
// A and B with scales, which LoadData has brought beside them.
template <typename T, typename U, typename S>
void MmadMx(const LocalTensor<T>& dst, const LocalTensor<U>& fm, const LocalTensor<S>& filter,
            const MmadParams& p) {
  ACLSIM_CUBE("MmadMx", T, U, S);
  static_assert(detail::kOf3510<T>, "MmadMx exists on architecture 3510 only");
  detail::CheckPair<U, S>();
  aclsim::MmadCtl ctl = detail::CtlOf(p, detail::kBits<U>);
  ctl.scaled = true;
  aclsim::CubeMmad(dst, fm, filter, {}, ctl);
  ACLSIM_KEEP_FRAME();
}
template <typename T, typename U, typename S, typename V>
void MmadMx(const LocalTensor<T>& dst, const LocalTensor<U>& fm, const LocalTensor<S>& filter,
            const LocalTensor<V>& bias, const MmadParams& p) {
  ACLSIM_CUBE("MmadMx", T, U, S);
  static_assert(detail::kOf3510<T>, "MmadMx exists on architecture 3510 only");
  detail::CheckPair<U, S>();
  aclsim::MmadCtl ctl = detail::CtlOf(p, detail::kBits<U>);
  ctl.scaled = true;
  ctl.hasBias = true;
  aclsim::CubeMmad(dst, fm, filter, bias, ctl);
  ACLSIM_KEEP_FRAME();
}
inline void SetHF32Mode(bool enable) { aclsim::CubeSetHf32(enable); }
inline void SetHF32Mode(HF32Mode mode) { aclsim::CubeSetHf32(mode == HF32Mode::ENABLE); }
inline void SetHF32TransMode(bool towardZero) { aclsim::CubeSetHf32Rounding(towardZero); }
inline void SetHF32TransMode(HF32TransMode mode) {
  aclsim::CubeSetHf32Rounding(mode == HF32TransMode::NEAREST_ZERO);
}
// The order in which the unit walks the result, which is none of the values.
inline void SetMMLayoutTransform(bool rowMajor) { aclsim::CubeSetOrder(rowMajor); }
inline void SetMMRowMajor() { aclsim::CubeSetOrder(true); }
inline void SetMMColumnMajor() { aclsim::CubeSetOrder(false); }

// --- out of L0C -----------------------------------------------------------------------------------------------------------
template <typename T, typename U, const FixpipeConfig& config = CFG_ROW_MAJOR>
void Fixpipe(const GlobalTensor<T>& dst, const LocalTensor<U>& src, const FixpipeParamsV220& p) {
  ACLSIM_CUBE("Fixpipe", T);
  static_assert(config.format != CO2Layout::COLUMN_MAJOR,
                "matrix units: Fixpipe to columns exists on architecture 3510 only");
  aclsim::CubeFixpipe(
      dst.GetPhyAddr(), src, {},
      detail::CtlOf(p, config.format, aclsim::DTypeOf<U>::value, aclsim::DTypeOf<T>::value));
  ACLSIM_KEEP_FRAME();
}
template <typename T, typename U, const FixpipeConfig& config = CFG_ROW_MAJOR>
void Fixpipe(const GlobalTensor<T>& dst, const LocalTensor<U>& src,
             const LocalTensor<uint64_t>& cbufWorkspace, const FixpipeParamsV220& p) {
  ACLSIM_CUBE("Fixpipe", T);
  static_assert(config.format != CO2Layout::COLUMN_MAJOR,
                "matrix units: Fixpipe to columns exists on architecture 3510 only");
  aclsim::FixpipeCtl ctl =
      detail::CtlOf(p, config.format, aclsim::DTypeOf<U>::value, aclsim::DTypeOf<T>::value);
  ctl.hasVector = true;
  aclsim::CubeFixpipe(dst.GetPhyAddr(), src, cbufWorkspace, ctl);
  ACLSIM_KEEP_FRAME();
}
template <typename T, typename U, const FixpipeConfig& config = CFG_ROW_MAJOR>
void Fixpipe(const LocalTensor<T>& dst, const LocalTensor<U>& src, const FixpipeParamsV220& p) {
  ACLSIM_CUBE("Fixpipe", T);
  aclsim::CubeFixpipeToL1(
      dst, src, {},
      detail::CtlOf(p, config.format, aclsim::DTypeOf<U>::value, aclsim::DTypeOf<T>::value));
  ACLSIM_KEEP_FRAME();
}
template <typename T, typename U, const FixpipeConfig& config = CFG_ROW_MAJOR>
void Fixpipe(const LocalTensor<T>& dst, const LocalTensor<U>& src,
             const LocalTensor<uint64_t>& cbufWorkspace, const FixpipeParamsV220& p) {
  ACLSIM_CUBE("Fixpipe", T);
  aclsim::FixpipeCtl ctl =
      detail::CtlOf(p, config.format, aclsim::DTypeOf<U>::value, aclsim::DTypeOf<T>::value);
  ctl.hasVector = true;
  aclsim::CubeFixpipeToL1(dst, src, cbufWorkspace, ctl);
  ACLSIM_KEEP_FRAME();
}
#if __NPU_ARCH__ == 3510
namespace detail {
template <typename T, typename U, const FixpipeConfig& config>
aclsim::FixpipeCtl CheckedCtl(const FixpipeParamsArch3510<config.format>& p) {
  static_assert(!config.isToUB,
                "matrix units: Fixpipe from L0C to UB is not simulated yet; docs/simulator.md says "
                "what is");
  return CtlOf(p, aclsim::DTypeOf<U>::value, aclsim::DTypeOf<T>::value, sizeof(T));
}
}  // namespace detail
template <typename T, typename U, const FixpipeConfig& config = CFG_ROW_MAJOR>
void Fixpipe(const GlobalTensor<T>& dst, const LocalTensor<U>& src,
             const FixpipeParamsArch3510<config.format>& p) {
  ACLSIM_CUBE("Fixpipe", T);
  aclsim::CubeFixpipe(dst.GetPhyAddr(), src, {}, detail::CheckedCtl<T, U, config>(p));
  ACLSIM_KEEP_FRAME();
}
template <typename T, typename U, const FixpipeConfig& config = CFG_ROW_MAJOR>
void Fixpipe(const GlobalTensor<T>& dst, const LocalTensor<U>& src,
             const LocalTensor<uint64_t>& cbufWorkspace,
             const FixpipeParamsArch3510<config.format>& p) {
  ACLSIM_CUBE("Fixpipe", T);
  aclsim::FixpipeCtl ctl = detail::CheckedCtl<T, U, config>(p);
  ctl.hasVector = true;
  aclsim::CubeFixpipe(dst.GetPhyAddr(), src, cbufWorkspace, ctl);
  ACLSIM_KEEP_FRAME();
}
template <typename T, typename U, const FixpipeConfig& config = CFG_ROW_MAJOR>
void Fixpipe(const LocalTensor<T>& dst, const LocalTensor<U>& src,
             const FixpipeParamsArch3510<config.format>& p) {
  ACLSIM_CUBE("Fixpipe", T);
  aclsim::CubeFixpipeToL1(dst, src, {}, detail::CheckedCtl<T, U, config>(p));
  ACLSIM_KEEP_FRAME();
}
template <typename T, typename U, const FixpipeConfig& config = CFG_ROW_MAJOR>
void Fixpipe(const LocalTensor<T>& dst, const LocalTensor<U>& src,
             const LocalTensor<uint64_t>& cbufWorkspace,
             const FixpipeParamsArch3510<config.format>& p) {
  ACLSIM_CUBE("Fixpipe", T);
  aclsim::FixpipeCtl ctl = detail::CheckedCtl<T, U, config>(p);
  ctl.hasVector = true;
  aclsim::CubeFixpipeToL1(dst, src, cbufWorkspace, ctl);
  ACLSIM_KEEP_FRAME();
}
#else
template <typename T, typename U>
void Fixpipe(const GlobalTensor<T>& dst, const LocalTensor<U>& src, const FixpipeParams<U>& p) {
  ACLSIM_CUBE("Fixpipe", T);
  aclsim::CubeFixpipe(
      dst.GetPhyAddr(), src, {},
      detail::CtlOf(p, aclsim::DTypeOf<U>::value, aclsim::DTypeOf<T>::value, sizeof(T)));
  ACLSIM_KEEP_FRAME();
}
template <typename T, typename U>
void Fixpipe(const LocalTensor<T>& dst, const LocalTensor<U>& src, const FixpipeParams<U>& p) {
  ACLSIM_CUBE("Fixpipe", T);
  aclsim::CubeFixpipeToL1(
      dst, src, {},
      detail::CtlOf(p, aclsim::DTypeOf<U>::value, aclsim::DTypeOf<T>::value, sizeof(T)));
  ACLSIM_KEEP_FRAME();
}
#endif
template <typename T, typename U>
void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<U>& src,
              const DataCopyCO12DstParams& p) {
  ACLSIM_OF_2201("DataCopy out of L0C", T);
  aclsim::CubeFixpipe(dst.GetPhyAddr(), src, {},
                      detail::CtlOf(p, aclsim::DTypeOf<U>::value, aclsim::DTypeOf<T>::value));
  ACLSIM_KEEP_FRAME();
}
template <typename T, typename U>
void DataCopy(const LocalTensor<T>& dst, const LocalTensor<U>& src,
              const DataCopyCO12DstParams& p) {
  ACLSIM_OF_2201("DataCopy out of L0C", T);
  aclsim::CubeFixpipeToL1(dst, src, {},
                          detail::CtlOf(p, aclsim::DTypeOf<U>::value, aclsim::DTypeOf<T>::value));
  ACLSIM_KEEP_FRAME();
}
// Registers that the copies out of L0C take, and that stay as they are until they are set again.
template <typename T>
void SetFixPipeConfig(const LocalTensor<T>& reluPre, const LocalTensor<T>& quantPre,
                      bool isUnitFlag = false) {
  if (reluPre.GetSize() != 0) {
    aclsim::AssertFail(
        "matrix units: SetFixPipeConfig with a tensor of relu is not simulated yet; "
        "docs/simulator.md says what is",
        __FILE__, __LINE__, "");
  }
  aclsim::CubeSetQuantTensor(quantPre, isUnitFlag);
}
template <typename T, bool setRelu = false>
void SetFixPipeConfig(const LocalTensor<T>& preTensor, bool isUnitFlag = false) {
  static_assert(!setRelu,
                "matrix units: SetFixPipeConfig with a tensor of relu is not simulated yet; "
                "docs/simulator.md says what is");
  aclsim::CubeSetQuantTensor(preTensor, isUnitFlag);
}
inline void SetFixpipePreQuantFlag(uint64_t config) { aclsim::CubeSetQuantScalar(config); }
inline void SetFixPipePreQuantFlag(uint64_t config) { aclsim::CubeSetQuantScalar(config); }
inline void SetFixpipeNz2ndFlag(uint32_t ndNum, uint32_t srcNdStride, uint32_t dstNdStride) {
  aclsim::CubeSetNz2nd(ndNum, srcNdStride, dstNdStride);
}

// --- a coupled core: L0C and UB -------------------------------------------------------------------------------------------
enum class BlockMode : uint8_t {
  BLOCK_MODE_NORMAL = 0,
  BLOCK_MODE_MATRIX,
  BLOCK_MODE_VECTOR,
  BLOCK_MODE_SMALL_CHANNEL,
  BLOCK_MODE_DEPTHWISE,
};
enum class DeqScale : uint8_t { DEQ_NONE = 0, DEQ, VDEQ, DEQ8, VDEQ8, DEQ16, VDEQ16 };
struct DataCopyEnhancedParams {
  BlockMode blockMode = BlockMode::BLOCK_MODE_NORMAL;
  DeqScale deqScale = DeqScale::DEQ_NONE;
  uint64_t deqValue = 0;
  uint8_t sidStoreMode = 0;
  bool isRelu = false;
  uint64_t padValue = 0;
  uint64_t deqTensorAddr = 0;
};
namespace detail {
template <typename...>
constexpr bool kCoupled = detail::kArch == 2002 || detail::kArch == 1001;
}  // namespace detail
template <typename T, typename U>
void DataCopy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const DataCopyParams& p,
              const DataCopyEnhancedParams& enhanced) {
  ACLSIM_CUBE("DataCopy with DataCopyEnhancedParams", T, U);
  static_assert(detail::kCoupled<T>,
                "DataCopy with DataCopyEnhancedParams exists on architectures 2002 and 1001 only: "
                "elsewhere Fixpipe copies out of L0C");
  if (enhanced.deqScale != DeqScale::DEQ_NONE || enhanced.sidStoreMode != 0 ||
      enhanced.blockMode > BlockMode::BLOCK_MODE_VECTOR) {
    aclsim::AssertFail(
        "matrix units: DataCopy out of L0C with a deqScale, a sidStoreMode or another block mode "
        "than matrix and vector is not simulated yet; docs/simulator.md says what is",
        __FILE__, __LINE__, "");
  }
  if (enhanced.blockMode == BlockMode::BLOCK_MODE_NORMAL) {
    aclsim::CubeCopyUbToL1(dst, src, detail::BlockCopy(p));
  } else {
    aclsim::CubeCopyFractals(dst, src,
                             {p.blockCount, p.blockLen, p.srcStride, p.dstStride,
                              enhanced.blockMode == BlockMode::BLOCK_MODE_VECTOR, enhanced.isRelu});
  }
  ACLSIM_KEEP_FRAME();
}
template <typename T, typename U>
void BroadCastVecToMM(const LocalTensor<T>& dst, const LocalTensor<U>& src, int32_t blockCount,
                      uint8_t blockLen, uint8_t srcGap, uint8_t dstGap) {
  ACLSIM_CUBE("BroadCastVecToMM", T, U);
  static_assert(detail::kCoupled<T>, "BroadCastVecToMM exists on architectures 2002 and 1001 only");
  aclsim::CubeBroadcast(dst, src, static_cast<uint64_t>(blockCount), blockLen, srcGap, dstGap);
  ACLSIM_KEEP_FRAME();
}

#undef ACLSIM_CUBE
#undef ACLSIM_OF_2201

}  // namespace AscendC
