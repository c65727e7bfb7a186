// SPDX-License-Identifier: Apache-2.0
// Scratch of the high-level API: the same numbers that the device's functions ask for.
#include "tiling/high_level_sizes.h"

#include <algorithm>

#include "device/high_sizes.h"

namespace AscendC {
namespace {

using aclsim::High;
using aclsim::HighReduction;
using aclsim::kScratchRepeat;

constexpr uint32_t kFloatBytes = sizeof(float);

uint32_t BytesOf(const ge::Shape& shape, uint32_t typeSize) {
  return static_cast<uint32_t>(shape.GetShapeSize()) * typeSize;
}

uint32_t Temporaries(High op, uint32_t typeSize, bool reused) {
  const aclsim::HighScratch kept = aclsim::ScratchOf(op);
  return typeSize != kFloatBytes ? kept.half : reused ? kept.singleReused : kept.single;
}

// At least one repeat of each temporary, at most the whole operand.
void Scratch(High op, const ge::Shape& shape, uint32_t typeSize, bool reused, uint32_t* most,
             uint32_t* least) {
  const uint32_t bytes = BytesOf(shape, typeSize);
  if (op == High::kClampMax) {  // one byte per element
    const uint32_t lanes = typeSize == 0 ? 0 : kScratchRepeat / typeSize;
    *least = lanes;
    *most = typeSize == 0 ? 0 : std::max(bytes / typeSize, lanes);
    return;
  }
  const uint32_t count = Temporaries(op, typeSize, reused);
  *least = aclsim::LeastRepeats(op, count) * kScratchRepeat;
  // ReGlu of floats works within one repeat.
  const bool isOneRepeat = op == High::kReGlu && typeSize == kFloatBytes;
  *most = std::max(isOneRepeat ? 0 : count * bytes, *least);
}

uint32_t Factor(High op, uint32_t typeSize) {
  if (op == High::kClampMax || (op == High::kAxpy && typeSize == kFloatBytes)) {
    return 1;
  }
  if (op == High::kLgamma && typeSize != kFloatBytes) {
    return Temporaries(op, typeSize, false) / 2;
  }
  return Temporaries(op, typeSize, false);
}

constexpr High kLog = High::kLog, kLog2 = High::kLog2, kLog10 = High::kLog10;
constexpr High kFloor = High::kFloor, kCeil = High::kCeil, kTrunc = High::kTrunc;
constexpr High kFrac = High::kFrac, kFmod = High::kFmod, kSign = High::kSign;
constexpr High kSin = High::kSin, kCos = High::kCos, kTan = High::kTan;
constexpr High kAsin = High::kAsin, kAcos = High::kAcos, kAtan = High::kAtan;
constexpr High kSinh = High::kSinh, kCosh = High::kCosh, kTanh = High::kTanh;
constexpr High kAsinh = High::kAsinh, kAcosh = High::kAcosh, kAtanh = High::kAtanh;
constexpr High kErf = High::kErf, kErfc = High::kErfc, kLgamma = High::kLgamma;
constexpr High kDigamma = High::kDigamma, kXor = High::kXor, kClamp = High::kClampMax;
constexpr High kAxpy = High::kAxpy, kSigmoid = High::kSigmoid, kGeGLU = High::kGeGlu;
constexpr High kReGlu = High::kReGlu;

bool IsScalar(const ge::Shape& shape) { return shape.GetDimNum() == 1 && shape.GetDim(0) == 1; }

// Power has temporaries, and one repeat beside them for the types that are not integers.
uint32_t PowerTemporaries(bool bothTensors, bool typeIsInt, uint32_t typeSize) {
  if (typeIsInt) {
    return bothTensors ? 6 : 7;
  }
  if (typeSize != kFloatBytes) {
    return 14;
  }
  return bothTensors ? 4 : 5;
}

int64_t WidthOf(ge::DataType dataType) {
  switch (dataType) {
    case ge::DT_FLOAT:
    case ge::DT_INT32:
      return 4;
    case ge::DT_FLOAT16:
      return 2;
    default:
      return 1;
  }
}

uint32_t ReduceSize(HighReduction op, const ge::Shape& shape, ge::DataType dataType,
                    ReducePattern pattern, bool reused) {
  if (shape.GetDimNum() != 2) {
    return 0;
  }
  return static_cast<uint32_t>(aclsim::ReduceScratch(op, WidthOf(dataType), shape.GetDim(0),
                                                     shape.GetDim(1), pattern == ReducePattern::RA,
                                                     false, reused));
}

}  // namespace

#define ACLSIM_DEFINE_SCRATCH_(Name)                                                              \
  void Get##Name##MaxMinTmpSize(const ge::Shape& srcShape, uint32_t typeSize, bool isReuseSource, \
                                uint32_t& maxValue, uint32_t& minValue) {                         \
    Scratch(k##Name, srcShape, typeSize, isReuseSource, &maxValue, &minValue);                    \
  }                                                                                               \
  void Get##Name##TmpBufferFactorSize(uint32_t typeSize, uint32_t& maxLiveNodeCount,              \
                                      uint32_t& extraBuf) {                                       \
    maxLiveNodeCount = Factor(k##Name, typeSize);                                                 \
    extraBuf = 0;                                                                                 \
  }
ACLSIM_SCRATCH_SIZES(ACLSIM_DEFINE_SCRATCH_)
#undef ACLSIM_DEFINE_SCRATCH_

// Temporaries of Exp are float whatever the type.
bool GetExpMaxMinTmpSize(const ge::Shape& srcShape, uint32_t typeSize, bool isReuseSource,
                         uint32_t& maxValue, uint32_t& minValue) {
  const uint32_t count = Temporaries(High::kExp, typeSize, isReuseSource);
  minValue = count * kScratchRepeat;
  maxValue = count * std::max(BytesOf(srcShape, kFloatBytes), kScratchRepeat);
  return true;
}
void GetExpTmpBufferFactorSize(uint32_t typeSize, uint32_t& maxLiveNodeCount, uint32_t& extraBuf) {
  const uint32_t count = Temporaries(High::kExp, typeSize, false);
  maxLiveNodeCount = typeSize == kFloatBytes ? count : count * 2;
  extraBuf = 0;
}

void GetRoundMaxMinTmpSize(const platform_ascendc::PlatformAscendC&, const ge::Shape& srcShape,
                           uint32_t typeSize, bool isReuseSource, uint32_t& maxValue,
                           uint32_t& minValue) {
  Scratch(High::kRound, srcShape, typeSize, isReuseSource, &maxValue, &minValue);
}
void GetRoundTmpBufferFactorSize(const platform_ascendc::PlatformAscendC&, uint32_t typeSize,
                                 uint32_t& maxLiveNodeCount, uint32_t& extraBuf) {
  maxLiveNodeCount = Factor(High::kRound, typeSize);
  extraBuf = 0;
}

void GetPowerMaxMinTmpSize(const ge::Shape& srcShape1, const ge::Shape& srcShape2, bool typeIsInt,
                           uint32_t typeSize, bool, uint32_t& maxValue, uint32_t& minValue) {
  const bool both = !IsScalar(srcShape1) && !IsScalar(srcShape2);
  const uint32_t bytes = BytesOf(IsScalar(srcShape1) ? srcShape2 : srcShape1, typeSize);
  const uint32_t count = PowerTemporaries(both, typeIsInt, typeSize);
  const uint32_t unit = typeSize == kFloatBytes ? kScratchRepeat : kScratchRepeat / 2;
  const uint32_t beside = typeIsInt ? 0 : kScratchRepeat;
  minValue = count * unit + beside;
  maxValue = count * std::max(bytes, unit) + beside;
}
void GetPowerTmpBufferFactorSize(bool baseIsTensor, bool expIsTensor, bool typeIsInt,
                                 uint32_t typeSize, uint32_t& maxLiveNodeCount,
                                 uint32_t& extraBuf) {
  maxLiveNodeCount = PowerTemporaries(baseIsTensor && expIsTensor, typeIsInt, typeSize);
  extraBuf = typeIsInt ? 0 : kScratchRepeat;
}

uint32_t GetGeluMinTmpSize(const ge::Shape&, uint32_t typeSize) {
  return Temporaries(High::kGelu, typeSize, false) * kScratchRepeat;
}
uint32_t GetGeluMaxTmpSize(const ge::Shape& srcShape, uint32_t typeSize) {
  return std::max(Temporaries(High::kGelu, typeSize, false) * BytesOf(srcShape, kFloatBytes),
                  GetGeluMinTmpSize(srcShape, typeSize));
}
void GetGeluMaxMinTmpSize(const ge::Shape& srcShape, uint32_t typeSize, uint32_t& maxValue,
                          uint32_t& minValue) {
  maxValue = GetGeluMaxTmpSize(srcShape, typeSize);
  minValue = GetGeluMinTmpSize(srcShape, typeSize);
}
void GetSwiGLUMaxMinTmpSize(const ge::Shape& srcShape, uint32_t typeSize, uint32_t& maxValue,
                            uint32_t& minValue, bool isReuseSource) {
  Scratch(High::kSwiGlu, srcShape, typeSize, isReuseSource, &maxValue, &minValue);
}
void GetSwiGLUTmpBufferFactorSize(uint32_t typeSize, uint32_t& maxLiveNodeCount,
                                  uint32_t& extraBuf) {
  maxLiveNodeCount = Factor(High::kSwiGlu, typeSize);
  extraBuf = 0;
}
void GetSiluTmpSize(const ge::Shape&, uint32_t, bool, uint32_t& maxValue, uint32_t& minValue) {
  maxValue = minValue = 0;
}
void GetSwishTmpSize(const ge::Shape&, uint32_t, bool, uint32_t& maxValue, uint32_t& minValue) {
  maxValue = minValue = 0;
}

void GetBroadCastMaxMinTmpSize(const platform_ascendc::PlatformAscendC&, const ge::Shape& srcShape,
                               const ge::Shape& dstShape, uint32_t typeSize, bool,
                               uint32_t& maxValue, uint32_t& minValue) {
  const bool matrix = dstShape.GetDimNum() == 2 && srcShape.GetDimNum() == 2;
  const int64_t rows = matrix ? dstShape.GetDim(0) : 1;
  const int64_t columns = matrix ? dstShape.GetDim(1) : dstShape.GetShapeSize();
  const int64_t axis = matrix && srcShape.GetDim(1) == 1 ? 1 : 0;
  const auto size = [&](int64_t rowsAtATime) {
    return static_cast<uint32_t>(aclsim::BroadcastScratch(typeSize, srcShape.GetShapeSize(), rows,
                                                          columns, axis, rowsAtATime));
  };
  minValue = size(0);
  maxValue = size(rows);
}
uint32_t GetDropOutMinTmpSize(const ge::Shape&, uint32_t, bool) { return 512; }
uint32_t GetDropOutMaxTmpSize(const ge::Shape& srcShape, uint32_t typeSize, bool isReuseSource) {
  const auto most = static_cast<uint32_t>(2 * srcShape.GetShapeSize() * kFloatBytes);
  return std::max(GetDropOutMinTmpSize(srcShape, typeSize, isReuseSource), most);
}
void GetDropOutMaxMinTmpSize(const ge::Shape& srcShape, uint32_t typeSize, bool isReuseSource,
                             uint32_t& maxValue, uint32_t& minValue) {
  maxValue = GetDropOutMaxTmpSize(srcShape, typeSize, isReuseSource);
  minValue = GetDropOutMinTmpSize(srcShape, typeSize, isReuseSource);
}

namespace {

// Scratch of Select by a mask of bytes: the source in half, at most `most` elements at a time, and the mask without its padding unless it
// may be overwritten.
uint32_t SelectScratch(const ge::Shape& src0, const ge::Shape& src1, const ge::Shape& mask,
                       uint32_t maskWidth, bool reusesMask, int64_t most) {
  constexpr int64_t kBlockBytes = 32, kHalfBytes = 2, kReserved = 512, kLeast = 1024;
  const auto padded = [](int64_t value) {
    return (value + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
  };
  const bool isScalar = src0.GetDimNum() == 0 || src0.GetShapeSize() == 1;
  const ge::Shape& source = isScalar ? src1 : src0;
  if (source.GetDimNum() == 0 || mask.GetDimNum() == 0) {
    return kLeast;
  }
  const int64_t size = source.GetShapeSize(), maskRow = mask.GetDim(mask.GetDimNum() - 1);
  int64_t bytes = std::max(kLeast, padded(std::min(size, most)) * kHalfBytes + kReserved);
  if (maskRow != source.GetDim(source.GetDimNum() - 1) && !reusesMask && maskRow > 1) {
    bytes += padded(size * maskWidth);
  }
  return static_cast<uint32_t>(bytes);
}

}  // namespace

#define ACLSIM_SELECT_SIZES_(Name)                                                                 \
  uint32_t Get##Name##MaxTmpSize(const ge::Shape& src0Shape, const ge::Shape& src1Shape, uint32_t, \
                                 const ge::Shape& maskShape, uint32_t maskTypeSize,                \
                                 bool isReuseMask) {                                               \
    return SelectScratch(src0Shape, src1Shape, maskShape, maskTypeSize, isReuseMask, INT64_MAX);   \
  }                                                                                                \
  uint32_t Get##Name##MinTmpSize(const ge::Shape& src0Shape, const ge::Shape& src1Shape, uint32_t, \
                                 const ge::Shape& maskShape, uint32_t maskTypeSize,                \
                                 bool isReuseMask) {                                               \
    return SelectScratch(src0Shape, src1Shape, maskShape, maskTypeSize, isReuseMask, 4096);        \
  }                                                                                                \
  void Get##Name##MaxMinTmpSize(const ge::Shape& src0Shape, const ge::Shape& src1Shape,            \
                                uint32_t srcTypeSize, const ge::Shape& maskShape,                  \
                                uint32_t maskTypeSize, bool isReuseMask, uint32_t& maxValue,       \
                                uint32_t& minValue) {                                              \
    maxValue = Get##Name##MaxTmpSize(src0Shape, src1Shape, srcTypeSize, maskShape, maskTypeSize,   \
                                     isReuseMask);                                                 \
    minValue = Get##Name##MinTmpSize(src0Shape, src1Shape, srcTypeSize, maskShape, maskTypeSize,   \
                                     isReuseMask);                                                 \
  }
ACLSIM_SELECT_SIZES_(Select)
ACLSIM_SELECT_SIZES_(SelectWithBytesMask)
#undef ACLSIM_SELECT_SIZES_

void GetSumMaxMinTmpSize(uint32_t n, uint32_t typeSize, bool, uint32_t& maxSize,
                         uint32_t& minSize) {
  maxSize = minSize = static_cast<uint32_t>(
      aclsim::ReduceScratch(HighReduction::kRowSum, typeSize, 1, n, false, false, false));
}
void GetMeanMaxMinTmpSize(uint32_t n, uint32_t srcTypeSize, uint32_t accTypeSize, bool,
                          uint32_t& maxSize, uint32_t& minSize) {
  maxSize = minSize = static_cast<uint32_t>(aclsim::ReduceScratch(
      HighReduction::kRowMean, srcTypeSize, 1, n, false, accTypeSize > srcTypeSize, false));
}
void GetMeanTmpBufferFactorSize(uint32_t, uint32_t& maxLiveNodeCount, uint32_t& extraBuffer) {
  maxLiveNodeCount = 1;
  extraBuffer = 0;
}
void GetAscendQuantMaxMinTmpSize(const ge::Shape& srcShape, uint32_t, uint32_t& maxValue,
                                 uint32_t& minValue) {
  minValue = static_cast<uint32_t>(aclsim::kQuantScratch);
  maxValue = std::max(static_cast<uint32_t>(aclsim::ScratchRoundUp(2 * srcShape.GetShapeSize(),
                                                                   aclsim::kScratchBlock)),
                      minValue);
}
void GetAscendQuantTmpBufferFactorSize(uint32_t& maxLiveNodeCount, uint32_t& extraBuf) {
  maxLiveNodeCount = 2;
  extraBuf = 0;
}
void GetAscendDequantMaxMinTmpSize(const ge::Shape& srcShape, uint32_t, uint32_t& maxValue,
                                   uint32_t& minValue) {
  const bool matrix = srcShape.GetDimNum() == 2;
  const int64_t rows = matrix ? srcShape.GetDim(0) : 1;
  const int64_t columns = srcShape.GetDim(matrix ? 1 : 0);
  minValue = static_cast<uint32_t>(aclsim::DequantScratch(1, columns));
  maxValue = static_cast<uint32_t>(aclsim::DequantScratch(rows, columns));
}
void GetAscendDequantTmpBufferFactorSize(const ge::Shape& srcShape, uint32_t& maxLiveNodeCount,
                                         uint32_t& extraBuf) {
  constexpr uint32_t kBesideRows = 72;  // a block and a repeat of floats
  const size_t dims = srcShape.GetDimNum();
  const bool known = dims == 1 || dims == 2;
  maxLiveNodeCount = !known ? 0 : dims == 1 ? 2 : 1;
  extraBuf = !known      ? 0
             : dims == 1 ? kBesideRows
                         : kBesideRows + static_cast<uint32_t>(srcShape.GetDim(1));
}
void GetAscendAntiQuantTmpBufferFactorSize(const ge::Shape& srcShape, const ge::Shape& scaleShape,
                                           bool isTranspose, ge::DataType,
                                           ge::DataType outputDataType, uint32_t& maxLiveNodeCount,
                                           uint32_t& extraBuf) {
  const auto scales = static_cast<uint32_t>(scaleShape.GetShapeSize());
  const bool toHalf = outputDataType == ge::DT_FLOAT16;
  maxLiveNodeCount = !toHalf && scales == 1 ? 1 : 0;
  extraBuf = toHalf || scales == 1
                 ? 0
                 : static_cast<uint32_t>(aclsim::AntiQuantScratch(
                       toHalf, false, isTranspose, srcShape.GetDim(isTranspose ? 1 : 0), scales));
}
void GetAscendAntiQuantMaxMinTmpSize(const ge::Shape& srcShape, const ge::Shape& scaleShape,
                                     bool isTranspose, ge::DataType, ge::DataType outputDataType,
                                     uint32_t& maxValue, uint32_t& minValue) {
  const int64_t scales = scaleShape.GetShapeSize();
  const bool toHalf = outputDataType == ge::DT_FLOAT16;
  const int64_t k = srcShape.GetDim(isTranspose ? 1 : 0);
  minValue =
      static_cast<uint32_t>(aclsim::AntiQuantScratch(toHalf, scales == 1, isTranspose, k, scales));
  maxValue = scales == 1 && !toHalf ? static_cast<uint32_t>(srcShape.GetShapeSize() * sizeof(float))
                                    : minValue;
}
void GetCumSumMaxMinTmpSize(const ge::Shape& srcShape, uint32_t typeSize, bool isLastAxis, bool,
                            uint32_t& maxValue, uint32_t& minValue) {
  if (srcShape.GetDimNum() != 2) {
    maxValue = minValue = 0;
    return;
  }
  const int64_t rows = srcShape.GetDim(0);
  const int64_t columns = srcShape.GetDim(1);
  minValue = static_cast<uint32_t>(aclsim::CumSumScratch(typeSize, rows, columns, isLastAxis));
  maxValue = static_cast<uint32_t>(
      aclsim::CumSumScratch(typeSize, rows, columns, isLastAxis, aclsim::ScratchRoundUp(rows, 16)));
}

// Sequences are made in their place.
void GetArithProgressionMaxMinTmpSize(uint32_t& maxValue, uint32_t& minValue) {
  maxValue = minValue = 0;
}
void GetArangeMaxMinTmpSize(uint32_t& maxValue, uint32_t& minValue) { maxValue = minValue = 0; }

namespace {

// A structure of a value and its index has 8 bytes where the vector unit sorts those; else it is a proposal of 8 elements.
constexpr uint32_t kProposalElements = 8;
bool SortsStructures(const platform_ascendc::PlatformAscendC& platform) {
  const auto arch = static_cast<uint32_t>(platform.GetCurNpuArch());
  return arch == 2201 || arch == 3510;
}

}  // namespace

uint32_t GetConcatTmpSize(const platform_ascendc::PlatformAscendC& ascendcPlatform,
                          uint32_t elemCount, uint32_t dataTypeSize) {
  return SortsStructures(ascendcPlatform) ? 0 : elemCount * kProposalElements * dataTypeSize;
}
uint32_t GetSortTmpSize(const platform_ascendc::PlatformAscendC& ascendcPlatform,
                        uint32_t elemCount, uint32_t dataTypeSize) {
  constexpr uint32_t kStructureBytes = 8;
  return elemCount *
         (SortsStructures(ascendcPlatform) ? kStructureBytes : kProposalElements * dataTypeSize);
}

#define ACLSIM_DEFINE_REDUCE_(Name)                                                     \
  void GetReduce##Name##MaxMinTmpSize(const ge::Shape& srcShape, ge::DataType dataType, \
                                      ReducePattern pattern, bool, bool isReuseSource,  \
                                      uint32_t& maxValue, uint32_t& minValue) {         \
    if (pattern != ReducePattern::AR && pattern != ReducePattern::RA) return;           \
    maxValue = minValue =                                                               \
        ReduceSize(HighReduction::k##Name, srcShape, dataType, pattern, isReuseSource); \
  }
ACLSIM_REDUCE_SIZES(ACLSIM_DEFINE_REDUCE_)
#undef ACLSIM_DEFINE_REDUCE_

}  // namespace AscendC
