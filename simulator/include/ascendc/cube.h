// SPDX-License-Identifier: Apache-2.0
// The matrix unit: into L1, L0A, L0B, BT and FB, Mmad, and out of L0C. src/device/cube_*.cpp has what these calls do and what they must keep
// to.
#pragma once

#include "ascendc/cube_params.h"
#include "ascendc/matmul_abi.h"

namespace AscendC {

namespace detail {

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

template <typename...>
constexpr bool kOf3510 = detail::kArch == 3510;
template <typename T>
constexpr uint8_t kBits = kNibbles<T> ? 4 : 8 * sizeof(T);
// Operands that carry scales.
template <typename T>
constexpr bool kScaled = std::is_same_v<T, mx_fp8_e4m3_t> || std::is_same_v<T, mx_fp8_e5m2_t> ||
                         std::is_same_v<T, fp4x2_e2m1_t> || std::is_same_v<T, fp4x2_e1m2_t>;

inline aclsim::Nd2NzCtl CtlOf(const Nd2NzParams& p) {
  return {p.ndNum,     p.nValue,        p.dValue,       p.srcNdMatrixStride,
          p.srcDValue, p.dstNzC0Stride, p.dstNzNStride, p.dstNzMatrixStride};
}
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
// Ascend 950 counts matrices of L0C in rows of 16 elements, 2201 in fractals.
constexpr uint32_t kNdUnit = kArch == 3510 ? 16 : 256;
// 950 takes the fields as those of FixpipeParamsArch3510: strides of NZ are in elements there.
inline aclsim::FixpipeCtl CtlOf(const FixpipeParamsV220& p, CO2Layout layout, aclsim::DType src,
                                aclsim::DType dst, uint32_t dstBytes) {
  aclsim::FixpipeCtl ctl;
  ctl.srcNdUnit = kNdUnit;
  if (kArch == 3510) {
    ctl.dstUnit = dstBytes;
  }
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
  aclsim::FixpipeCtl ctl;
  ctl.n = p.nSize;
  ctl.m = p.mSize;
  ctl.srcStride = p.srcStride;
  ctl.dstStride = p.dstStride;
  ctl.dstUnit = dstBytes;
  ctl.quant = static_cast<aclsim::Quant>(p.quantPre);
  ctl.scalar = p.deqScalar;
  ctl.srcNdUnit = kNdUnit;
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
  ctl.dual = p.dualDstCtl;
  ctl.sub = p.subBlockId ? 1 : 0;
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
  ctl.srcNdUnit = kNdUnit;
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
  aclsim::CubeNd2Nz(dst, src.GetPhyAddr(), detail::CtlOf(p));
  ACLSIM_KEEP_FRAME();
}
// An AIV's matrix of UB into TSCM, on Ascend 950 into L1; with DataCopyPad, what its parameters take of UB.
template <typename T>
void DataCopy(const LocalTensor<T>& dst, const LocalTensor<T>& src, const Nd2NzParams& p) {
  ACLSIM_CUBE("DataCopy of ND to NZ", T);
  aclsim::TscmNd2NzFromUb(dst, src,
                          detail::CountCopy(detail::BytesOf<T>(uint64_t{p.nValue} * p.dValue)),
                          false, detail::CtlOf(p));
  ACLSIM_KEEP_FRAME();
}
template <typename T>
void DataCopyPad(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                 const DataCopyParams& dataCopyParams, const Nd2NzParams& nd2nzParams) {
  ACLSIM_CUBE("DataCopyPad of ND to NZ", T);
  aclsim::TscmNd2NzFromUb(dst, src, detail::PadCopyOut(dataCopyParams), true,
                          detail::CtlOf(nd2nzParams));
  ACLSIM_KEEP_FRAME();
}
template <typename T>
void DataCopyPad(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                 const DataCopyExtParams& dataCopyParams, const Nd2NzParams& nd2nzParams) {
  ACLSIM_CUBE("DataCopyPad of ND to NZ", T);
  aclsim::TscmNd2NzFromUb(dst, src, detail::PadCopyOut(dataCopyParams), true,
                          detail::CtlOf(nd2nzParams));
  ACLSIM_KEEP_FRAME();
}
// The matrix in GM has its columns one behind the other. Braces mean Nd2NzParams, the only one of architecture 2201.
template <typename T, typename Params,
          std::enable_if_t<std::is_same_v<Params, Dn2NzParams>, bool> = true>
void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const Params& p) {
  ACLSIM_CUBE("DataCopy of DN to NZ", T);
  static_assert(detail::kOf3510<T>, "DataCopy of Dn2NzParams exists on architecture 3510 only");
  aclsim::Nd2NzCtl ctl = {p.dnNum,     p.nValue,        p.dValue,       p.srcDnMatrixStride,
                          p.srcDValue, p.dstNzC0Stride, p.dstNzNStride, p.dstNzMatrixStride};
  ctl.fromColumns = true;
  aclsim::CubeNd2Nz(dst, src.GetPhyAddr(), ctl);
  ACLSIM_KEEP_FRAME();
}
// From L1 into UB of an AIV of the AI core.
template <typename T, uint8_t subBlockId = 0>
void DataCopyL1ToUB(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                    const DataCopyParams& repeatParams) {
  ACLSIM_CUBE("DataCopyL1ToUB", T);
  static_assert(detail::kOf3510<T>, "DataCopyL1ToUB exists on architecture 3510 only");
  static_assert(subBlockId < 2, "DataCopyL1ToUB: an AI core has the AIVs 0 and 1");
  aclsim::CubeCopyL1ToUb(dst, src, detail::BlockCopy(repeatParams), subBlockId);
  ACLSIM_KEEP_FRAME();
}
template <typename T, uint8_t subBlockId = 0>
void DataCopyL1ToUB(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint32_t count) {
  ACLSIM_CUBE("DataCopyL1ToUB", T);
  static_assert(detail::kOf3510<T>, "DataCopyL1ToUB exists on architecture 3510 only");
  static_assert(subBlockId < 2, "DataCopyL1ToUB: an AI core has the AIVs 0 and 1");
  aclsim::CubeCopyL1ToUb(dst, src, detail::CountCopy(detail::BytesOf<T>(count)), subBlockId);
  ACLSIM_KEEP_FRAME();
}
// Into the bias table, where half becomes float. A kernel for several types names both of a copy, and they may be one.
template <typename T, typename U>
void DataCopy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const DataCopyParams& p) {
  if constexpr (std::is_same_v<T, U>) {
    DataCopy<T>(dst, src, p);
  } else {
    ACLSIM_CUBE("DataCopy with another type", T);
    aclsim::CubeCopyToTable(dst, src, p.blockCount, p.blockLen, p.srcStride, p.dstStride);
    ACLSIM_KEEP_FRAME();
  }
}
template <typename T, typename U>
void DataCopy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const uint32_t count) {
  if constexpr (std::is_same_v<T, U>) {
    DataCopy<T>(dst, src, count);
  } else {
    ACLSIM_CUBE("DataCopy with another type", T);
    constexpr uint32_t kUnit = detail::kArch == 3510 ? 32 : 64;
    aclsim::CubeCopyToTable(dst, src, 1, (count * sizeof(U) + kUnit - 1) / kUnit, 0, 0);
    ACLSIM_KEEP_FRAME();
  }
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
namespace detail {
inline aclsim::Load2dWindowCtl CtlOf(const LoadData2DParamsV2& p, uint8_t bits) {
  return {p.mStartPosition, p.kStartPosition, p.mStep,       p.kStep,
          p.srcStride,      p.dstStride,      p.ifTranspose, bits};
}
}  // namespace detail
template <typename T>
void LoadData(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LoadData2DParamsV2& p) {
  ACLSIM_CUBE("LoadData", T);
  static_assert(detail::kOf3510<T>,
                "LoadData of LoadData2DParamsV2 exists on architecture 3510 only");
  aclsim::CubeLoad2dWindow(dst, src, detail::CtlOf(p, detail::kBits<T>));
  ACLSIM_KEEP_FRAME();
}
// With scales of 32 elements along K each.
template <typename T, typename U>
void LoadData(const LocalTensor<U>& dst, const LocalTensor<T>& src,
              const LocalTensor<fp8_e8m0_t>& srcMx, const LoadData2DParamsV2& p,
              const LoadData2DMxParams& mx) {
  ACLSIM_CUBE("LoadData of MX formats", T);
  static_assert(detail::kOf3510<T>, "LoadData of MX formats exists on architecture 3510 only");
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
// B of 4:2 sparsity without its zeros, and the index that says which two rows of four each of its elements is of.
template <typename T, typename U>
void LoadDataWithSparse(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                        const LocalTensor<U>& idx, const LoadData2DParams& p) {
  ACLSIM_CUBE("LoadDataWithSparse", T);
  static_assert(std::is_same_v<T, int8_t> && std::is_same_v<U, uint8_t>,
                "LoadDataWithSparse: matrices are int8_t, their index is uint8_t");
  aclsim::CubeLoadSparse(dst, src, idx, p.startIndex, p.repeatTimes);
  ACLSIM_KEEP_FRAME();
}
namespace detail {
template <typename T, uint8_t config, typename U>
aclsim::Load3dCtl CtlOf(const LoadData3DParamsV2<U>& p) {
  constexpr uint32_t kMoreFilter = 256;
  aclsim::Load3dCtl ctl;
  ctl.map = detail::MapOf(p.l1H, p.l1W, p.padList);
  ctl.setsMap = (config & 1) != 0;
  ctl.setsPadding = (config & 2) != 0;
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
  return ctl;
}
}  // namespace detail
template <typename T, uint8_t config = IS_RESER_LOAD3D_DEFAULT_CONFIG, typename U = T>
void LoadData(const LocalTensor<T>& dst, const LocalTensor<T>& src,
              const LoadData3DParamsV2<U>& p) {
  ACLSIM_CUBE("LoadData of feature maps", T);
  aclsim::CubeLoad3d(dst, src, detail::CtlOf<T, config>(p));
  ACLSIM_KEEP_FRAME();
}
template <typename T, uint8_t config = IS_RESER_LOAD3D_DEFAULT_CONFIG, typename U = T>
void LoadDataWithStride(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                        const LoadData3DParamsV2<U>& p) {
  ACLSIM_CUBE("LoadDataWithStride", T);
  static_assert(detail::kOf3510<T>, "LoadDataWithStride exists on architecture 3510 only");
  aclsim::Load3dCtl ctl = detail::CtlOf<T, config>(p);
  ctl.strided = true;
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
inline void Load3DSetFMatrixCal(uint16_t l1H, uint16_t l1W, const uint8_t padList[PAD_SIZE]) {
  aclsim::CubeSetFmatrix(detail::MapOf(l1H, l1W, padList));
}
template <typename T>
void SetLoadDataPaddingValue(const T padValue) {
  aclsim::CubeSetPadding(detail::BitsOfElement(padValue));
}
inline void SetLoadDataRepeat(const LoadDataRepeatParam& p) {
  aclsim::CubeSetRepeat(p.repeatStride, p.repeatTime, p.repeatMode);
}
template <typename Params = LoadDataRepeatParamWithStride>
void SetLoadDataRepeatWithStride(const LoadDataRepeatParamWithStride& p) {
  static_assert(detail::kOf3510<Params>,
                "SetLoadDataRepeatWithStride exists on architecture 3510 only");
  aclsim::CubeSetRepeatWithStride(p.repeatStride, p.repeatTime, p.repeatMode, p.dstStride);
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
// B has two of four elements of each column, as LoadDataWithSparse has brought them. k counts the columns of A.
template <typename T, typename U>
void MmadWithSparse(const LocalTensor<T>& dst, const LocalTensor<U>& fm,
                    const LocalTensor<U>& filter, const MmadParams& p) {
  ACLSIM_CUBE("MmadWithSparse", T, U);
  static_assert(std::is_same_v<T, int32_t> && std::is_same_v<U, int8_t>,
                "MmadWithSparse: products of int8_t are int32_t");
  aclsim::MmadCtl ctl = detail::CtlOf(p, detail::kBits<U>);
  ctl.sparse = ctl.noVector = true;
  aclsim::CubeMmad(dst, fm, filter, {}, ctl);
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
  aclsim::CubeFixpipe(dst.GetPhyAddr(), src, {},
                      detail::CtlOf(p, config.format, aclsim::DTypeOf<U>::value,
                                    aclsim::DTypeOf<T>::value, sizeof(T)));
  ACLSIM_KEEP_FRAME();
}
template <typename T, typename U, const FixpipeConfig& config = CFG_ROW_MAJOR>
void Fixpipe(const GlobalTensor<T>& dst, const LocalTensor<U>& src,
             const LocalTensor<uint64_t>& cbufWorkspace, const FixpipeParamsV220& p) {
  ACLSIM_CUBE("Fixpipe", T);
  static_assert(config.format != CO2Layout::COLUMN_MAJOR,
                "matrix units: Fixpipe to columns exists on architecture 3510 only");
  aclsim::FixpipeCtl ctl = detail::CtlOf(p, config.format, aclsim::DTypeOf<U>::value,
                                         aclsim::DTypeOf<T>::value, sizeof(T));
  ctl.hasVector = true;
  aclsim::CubeFixpipe(dst.GetPhyAddr(), src, cbufWorkspace, ctl);
  ACLSIM_KEEP_FRAME();
}
template <typename T, typename U, const FixpipeConfig& config = CFG_ROW_MAJOR>
void Fixpipe(const LocalTensor<T>& dst, const LocalTensor<U>& src, const FixpipeParamsV220& p) {
  ACLSIM_CUBE("Fixpipe", T);
  aclsim::CubeFixpipeToL1(dst, src, {},
                          detail::CtlOf(p, config.format, aclsim::DTypeOf<U>::value,
                                        aclsim::DTypeOf<T>::value, sizeof(T)));
  ACLSIM_KEEP_FRAME();
}
template <typename T, typename U, const FixpipeConfig& config = CFG_ROW_MAJOR>
void Fixpipe(const LocalTensor<T>& dst, const LocalTensor<U>& src,
             const LocalTensor<uint64_t>& cbufWorkspace, const FixpipeParamsV220& p) {
  ACLSIM_CUBE("Fixpipe", T);
  aclsim::FixpipeCtl ctl = detail::CtlOf(p, config.format, aclsim::DTypeOf<U>::value,
                                         aclsim::DTypeOf<T>::value, sizeof(T));
  ctl.hasVector = true;
  aclsim::CubeFixpipeToL1(dst, src, cbufWorkspace, ctl);
  ACLSIM_KEEP_FRAME();
}
#if __NPU_ARCH__ == 3510
namespace detail {
template <typename T, typename U, const FixpipeConfig& config>
aclsim::FixpipeCtl CheckedCtl(const FixpipeParamsArch3510<config.format>& p) {
  return CtlOf(p, aclsim::DTypeOf<U>::value, aclsim::DTypeOf<T>::value, sizeof(T));
}
}  // namespace detail
template <typename T, typename U, const FixpipeConfig& config = CFG_ROW_MAJOR>
void Fixpipe(const GlobalTensor<T>& dst, const LocalTensor<U>& src,
             const FixpipeParamsArch3510<config.format>& p) {
  ACLSIM_CUBE("Fixpipe", T);
  static_assert(!config.isToUB, "Fixpipe: a GlobalTensor lies in GM, and config says UB");
  aclsim::CubeFixpipe(dst.GetPhyAddr(), src, {}, detail::CheckedCtl<T, U, config>(p));
  ACLSIM_KEEP_FRAME();
}
template <typename T, typename U, const FixpipeConfig& config = CFG_ROW_MAJOR>
void Fixpipe(const GlobalTensor<T>& dst, const LocalTensor<U>& src,
             const LocalTensor<uint64_t>& cbufWorkspace,
             const FixpipeParamsArch3510<config.format>& p) {
  ACLSIM_CUBE("Fixpipe", T);
  static_assert(!config.isToUB, "Fixpipe: a GlobalTensor lies in GM, and config says UB");
  aclsim::FixpipeCtl ctl = detail::CheckedCtl<T, U, config>(p);
  ctl.hasVector = true;
  aclsim::CubeFixpipe(dst.GetPhyAddr(), src, cbufWorkspace, ctl);
  ACLSIM_KEEP_FRAME();
}
template <typename T, typename U, const FixpipeConfig& config = CFG_ROW_MAJOR>
void Fixpipe(const LocalTensor<T>& dst, const LocalTensor<U>& src,
             const FixpipeParamsArch3510<config.format>& p) {
  ACLSIM_CUBE("Fixpipe", T);
  constexpr auto kCopy = config.isToUB ? aclsim::CubeFixpipeToUb : aclsim::CubeFixpipeToL1;
  kCopy(dst, src, {}, detail::CheckedCtl<T, U, config>(p));
  ACLSIM_KEEP_FRAME();
}
template <typename T, typename U, const FixpipeConfig& config = CFG_ROW_MAJOR>
void Fixpipe(const LocalTensor<T>& dst, const LocalTensor<U>& src,
             const LocalTensor<uint64_t>& cbufWorkspace,
             const FixpipeParamsArch3510<config.format>& p) {
  ACLSIM_CUBE("Fixpipe", T);
  constexpr auto kCopy = config.isToUB ? aclsim::CubeFixpipeToUb : aclsim::CubeFixpipeToL1;
  aclsim::FixpipeCtl ctl = detail::CheckedCtl<T, U, config>(p);
  ctl.hasVector = true;
  kCopy(dst, src, cbufWorkspace, ctl);
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
void Fixpipe(const GlobalTensor<T>& dst, const LocalTensor<U>& src,
             const LocalTensor<uint64_t>& cbufWorkspace, const FixpipeParams<U>& p) {
  ACLSIM_CUBE("Fixpipe", T);
  aclsim::FixpipeCtl ctl =
      detail::CtlOf(p, aclsim::DTypeOf<U>::value, aclsim::DTypeOf<T>::value, sizeof(T));
  ctl.hasVector = true;
  aclsim::CubeFixpipe(dst.GetPhyAddr(), src, cbufWorkspace, ctl);
  ACLSIM_KEEP_FRAME();
}
template <typename T, typename U>
void Fixpipe(const LocalTensor<T>& dst, const LocalTensor<U>& src,
             const LocalTensor<uint64_t>& cbufWorkspace, const FixpipeParams<U>& p) {
  ACLSIM_CUBE("Fixpipe", T);
  aclsim::FixpipeCtl ctl =
      detail::CtlOf(p, aclsim::DTypeOf<U>::value, aclsim::DTypeOf<T>::value, sizeof(T));
  ctl.hasVector = true;
  aclsim::CubeFixpipeToL1(dst, src, cbufWorkspace, ctl);
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
  ACLSIM_CUBE("DataCopy out of L0C", T);
  aclsim::CubeFixpipe(dst.GetPhyAddr(), src, {},
                      detail::CtlOf(p, aclsim::DTypeOf<U>::value, aclsim::DTypeOf<T>::value));
  ACLSIM_KEEP_FRAME();
}
template <typename T, typename U>
void DataCopy(const LocalTensor<T>& dst, const LocalTensor<U>& src,
              const DataCopyCO12DstParams& p) {
  ACLSIM_CUBE("DataCopy out of L0C", T);
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
// SetNdParaImpl takes the three values as one register holds them: 16 bits each, the number first.
inline void SetNdParaImpl(uint64_t config) {
  SetFixpipeNz2ndFlag(static_cast<uint16_t>(config), static_cast<uint16_t>(config >> 16),
                      static_cast<uint16_t>(config >> 32));
}

}  // namespace AscendC

#include "ascendc/cube_coupled.h"

#undef ACLSIM_CUBE
