// SPDX-License-Identifier: Apache-2.0
// What calls of the matrix unit take: struct fields, their order and their defaults are CANN's.
#pragma once

#include "ascendc/cube_abi.h"
#include "ascendc/data_copy.h"

// Names that the device compiler has, as it has those of QuantMode_t.
enum UnitFlagMode { UFMode0, UFMode1, UFMode2, UFMode3 };
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
  QF322F16_PRE,  // from here on 950 only; the names are everywhere
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

using ::fp8_e8m0_t;
using ::mx_fp8_e4m3_t;
using ::mx_fp8_e5m2_t;
using ::QuantMode_t;

// Fields that have 16 or 8 bits on the device have 32 here, so that what they cannot hold is named and not cut off. Their types show
// where a kernel passes one to a template beside a value of the narrow type: `aclgrad build` compiles such a kernel with the narrow ones.
namespace detail {
#ifdef ACLSIM_NARROW_FIELDS
using Field16 = uint16_t;
using Field8 = uint8_t;
#else
using Field16 = uint32_t;
using Field8 = uint32_t;
#endif
#if __NPU_ARCH__ == 3510 && defined(ACLSIM_NARROW_FIELDS)
using ColumnsOfNd = uint32_t;
using PitchOfNd = uint64_t;
#else
using ColumnsOfNd = Field16;
using PitchOfNd = Field16;
#endif
}  // namespace detail

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
  detail::Field16 ndNum = 0;
  detail::Field16 nValue = 0;
  detail::ColumnsOfNd dValue = 0;
  detail::PitchOfNd srcNdMatrixStride = 0;
  detail::PitchOfNd srcDValue = 0;
  detail::Field16 dstNzC0Stride = 0;
  detail::Field16 dstNzNStride = 0;
  detail::ColumnsOfNd dstNzMatrixStride = 0;
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
  detail::Field16 startIndex = 0;
  detail::Field16 dstGap = 0;
  detail::Field16 srcStride = 0;
  bool ifTranspose = false;
  detail::Field8 repeatTimes = 0;
  detail::Field8 sid = 0;
  detail::Field8 addrMode = 0;
};
using LoadData2dParams = LoadData2DParams;

// These are of architecture 3510. Their names exist on all, for functions that another architecture does not call.
struct Dn2NzParams {
  Dn2NzParams() = default;
  Dn2NzParams(uint32_t num, uint32_t n, uint32_t d, uint64_t srcMatrix, uint64_t srcD, uint32_t c0,
              uint32_t nStride, uint32_t dstMatrix)
      : dnNum(num),
        nValue(n),
        dValue(d),
        srcDnMatrixStride(srcMatrix),
        srcDValue(srcD),
        dstNzC0Stride(c0),
        dstNzNStride(nStride),
        dstNzMatrixStride(dstMatrix) {}
  detail::Field16 dnNum = 0;
  detail::Field16 nValue = 0;
  uint32_t dValue = 0;
  uint64_t srcDnMatrixStride = 0;
  uint64_t srcDValue = 0;
  detail::Field16 dstNzC0Stride = 0;
  detail::Field16 dstNzNStride = 0;
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
  detail::Field16 mStep = 0;
  detail::Field16 kStep = 0;
  int32_t srcStride = 0;
  detail::Field16 dstStride = 0;
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
  detail::Field16 xStartPosition = 0;
  detail::Field16 yStartPosition = 0;
  detail::Field8 xStep = 0;
  detail::Field8 yStep = 0;
  detail::Field16 srcStride = 0;
  detail::Field16 dstStride = 0;
};

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
  detail::Field16 startIndex = 0;
  detail::Field8 repeatTimes = 0;
  detail::Field16 srcStride = 0;
  detail::Field16 dstGap = 0;
  detail::Field16 dstFracGap = 0;
  detail::Field8 addrMode = 0;
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
  detail::Field16 startIndex = 0;
  detail::Field8 repeatTimes = 0;
  detail::Field16 srcStride = 0;
  detail::Field16 dstGap = 0;
  detail::Field16 dstFracGap = 0;
  detail::Field16 srcFracGap = 0;
  detail::Field8 addrMode = 0;
};

enum class FmatrixMode : uint8_t { FMATRIX_LEFT = 0, FMATRIX_RIGHT };

struct IsResetLoad3dConfig {
  bool isSetFMatrix;
  bool isSetPadding;
  // LoadData takes the number: g++ 12 and clang++ 14 crash at a template argument that refers to a constant within a function of a template.
  constexpr operator uint8_t() const {
    return static_cast<uint8_t>(isSetFMatrix + 2 * isSetPadding);
  }
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
  detail::Field16 l1H = 0;
  detail::Field16 l1W = 0;
  detail::Field16 channelSize = 0;
  detail::Field16 kExtension = 0;
  detail::Field16 mExtension = 0;
  detail::Field16 kStartPt = 0;
  detail::Field16 mStartPt = 0;
  detail::Field8 strideW = 1;
  detail::Field8 strideH = 1;
  detail::Field8 filterW = 1;
  detail::Field8 filterH = 1;
  detail::Field8 dilationFilterW = 1;
  detail::Field8 dilationFilterH = 1;
  bool enTranspose = false;
  bool enSmallK = false;
  T padValue{};
  bool filterSizeW = false;
  bool filterSizeH = false;
  bool fMatrixCtrl = false;
};

// The fields of extConfig and filterConfig begin at these bits; K's extent and the stride along W are the lowest bits.
constexpr uint64_t LOAD_M_START_POSITION = 48, LOAD_K_START_POSITION = 32, LOAD_M_EXTENSION = 16;
constexpr uint64_t LOAD_DILATION_FILTER_H = 40, LOAD_DILATION_FILTER_W = 32, LOAD_FILTER_H = 24,
                   LOAD_FILTER_W = 16, LOAD_STRIDE_H = 8;

struct LoadData3DParamsV2Pro {
  LoadData3DParamsV2Pro() = default;
  LoadData3DParamsV2Pro(uint32_t channels, bool transpose, bool smallK, bool wideW, bool wideH,
                        bool ofRight, uint64_t extents, uint64_t filter)
      : channelSize(channels),
        enTranspose(transpose),
        enSmallK(smallK),
        filterSizeW(wideW),
        filterSizeH(wideH),
        fMatrixCtrl(ofRight),
        extConfig(extents),
        filterConfig(filter) {}
  detail::Field16 channelSize = 0;
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
  detail::Field16 repeatStride = 0;
  detail::Field8 repeatTime = 1;
  detail::Field8 repeatMode = 0;
};

struct LoadDataRepeatParamWithStride {
  LoadDataRepeatParamWithStride() = default;
  LoadDataRepeatParamWithStride(uint16_t stride, uint8_t time, uint8_t mode, uint16_t toStride)
      : repeatStride(stride), repeatTime(time), repeatMode(mode), dstStride(toStride) {}
  uint16_t repeatStride = 0;
  uint8_t repeatTime = 1;
  uint8_t repeatMode = 0;
  uint16_t dstStride = 0;
};

template <typename T>
struct InitConstValueParams {
  InitConstValueParams() = default;
  InitConstValueParams(uint32_t repeat, uint32_t blocks, uint32_t gap, T value)
      : repeatTimes(repeat), blockNum(blocks), dstGap(gap), initValue(value) {}
  InitConstValueParams(uint32_t repeat, T value) : repeatTimes(repeat), initValue(value) {}
  detail::Field16 repeatTimes = 0;
  detail::Field16 blockNum = 0;
  detail::Field16 dstGap = 0;
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
  detail::Field16 m = 0;
  detail::Field16 n = 0;
  detail::Field16 k = 0;
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
  detail::Field16 nSize = 0;
  detail::Field16 mSize = 0;
  detail::Field16 srcStride = 0;
  uint32_t dstStride = 0;
  QuantMode_t quantPre = QuantMode_t::NoQuant;
  uint64_t deqScalar = 0;
  detail::Field16 ndNum = 1;
  detail::Field16 srcNdStride = 0;
  detail::Field16 dstNdStride = 0;
  bool reluEn = false;
  uint8_t unitFlag = 0;
  bool isChannelSplit = false;
};

#if __NPU_ARCH__ == 3510
struct Nz2NdParams {
  detail::Field16 ndNum = 1;
  detail::Field16 srcNdStride = 0;
  uint32_t dstNdStride = 0;
};
struct Nz2DnParams {
  detail::Field16 dnNum = 1;
  detail::Field16 srcNzMatrixStride = 0;
  uint32_t dstDnMatrixStride = 0;
  detail::Field16 srcNzC0Stride = 0;
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
  detail::Field16 nSize = 0;
  detail::Field16 mSize = 0;
  detail::Field16 srcStride = 0;
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
// A class of its own, as kernels leave out its template argument.
template <CO2Layout format = CO2Layout::ROW_MAJOR>
struct FixpipeParamsC310 : FixpipeParamsArch3510<format> {
  FixpipeParamsC310() = default;
  using FixpipeParamsArch3510<format>::FixpipeParamsArch3510;
};
// Values of dualDstCtl.
enum class McgShfMode { SINGLE_DST_MODE = 0, DUAL_DST_SPLIT_M, DUAL_DST_SPLIT_N, RESERVED };
#else
// The older form: bursts of columns, with gaps for strides.
struct QuantParams {
  QuantParams() = default;
  QuantParams(QuantMode_t mode) : quantPre(mode) {}
  QuantParams(QuantMode_t mode, uint64_t scalar) : quantPre(mode), deqScalar(scalar) {}
  QuantMode_t quantPre = QuantMode_t::NoQuant;
  uint64_t deqScalar = 0;
};
struct Nz2NdParams {
  Nz2NdParams() = default;
  Nz2NdParams(bool en, uint32_t num, uint32_t srcStride, uint32_t dstStride, uint32_t n)
      : nz2ndEn(en), ndNum(num), srcNdStride(srcStride), dstNdStride(dstStride), originalNSize(n) {}
  bool nz2ndEn = false;
  detail::Field16 ndNum = 1;
  detail::Field16 srcNdStride = 0;
  detail::Field16 dstNdStride = 0;
  detail::Field16 originalNSize = 0;
};
template <typename T = int32_t>
struct FixpipeParams {
  FixpipeParams() = default;
  FixpipeParams(uint32_t count, uint32_t len, uint32_t srcGap, uint32_t dstGap)
      : cburstNum(count), burstLen(len), srcStride(srcGap), dstStride(dstGap) {}
  detail::Field16 cburstNum = 1;
  detail::Field16 burstLen = 1;
  detail::Field16 srcStride = 0;
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
  detail::Field16 nSize = 0;
  detail::Field16 mSize = 0;
  uint32_t dstStride = 0;
  detail::Field16 srcStride = 0;
  uint8_t unitFlag = 0;
  uint8_t clipReluPre = 0;
  uint8_t eltWiseOp = 0;
  QuantMode_t quantPre = QuantMode_t::NoQuant;
  uint8_t reluPre = 0;
  bool channelSplit = false;
  bool nz2ndEn = false;
};

}  // namespace AscendC
