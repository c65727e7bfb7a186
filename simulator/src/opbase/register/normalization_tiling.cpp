// SPDX-License-Identifier: Apache-2.0
// Scratch and tiling of normalisation: the numbers that CANN's public sources give for architecture 2201. The device's functions
// take the shapes from them, kernels may read the rest.
#include <algorithm>

#include "device/high_sizes.h"
#include "tiling/high_level_api.h"

namespace AscendC {
namespace {

constexpr uint32_t kFloatBytes = sizeof(float);
constexpr uint32_t kBlockBytes = 32;
constexpr uint32_t kFloatsPerBlock = kBlockBytes / kFloatBytes;
constexpr uint32_t kHalfBytes = 2;

uint32_t RoundUp(uint32_t value, uint32_t unit) { return (value + unit - 1) / unit * unit; }
uint32_t Dim(const ge::Shape& shape, size_t i) {
  return i < shape.GetDimNum() ? static_cast<uint32_t>(shape.GetDim(i)) : 0;
}
uint32_t Bytes(int64_t bytes) { return static_cast<uint32_t>(bytes); }
uint32_t PaddedTo(uint32_t length, uint32_t typeSize) {
  return typeSize == 0 ? length : RoundUp(length, kBlockBytes / typeSize);
}

// Elements of whole rows that fit into one of `temporaries` of the scratch.
uint32_t AtATime(uint32_t floats, uint32_t kept, uint32_t temporaries, uint32_t row,
                 uint32_t total) {
  if (row == 0 || floats < kept) {
    return 0;
  }
  return std::min((floats - kept) / temporaries / row * row, total);
}

// Fills in what the structs of LayerNorm and GroupNorm say about the rounds over `total` elements in rows of `row`.
template <typename Tiling>
void SetRounds(Tiling* tiling, uint32_t total, uint32_t row, uint32_t rows) {
  tiling->loopRound = total / tiling->oneTmpSize;
  tiling->inputRoundSize = tiling->oneTmpSize;
  tiling->inputTailSize = total % tiling->oneTmpSize;
  tiling->inputTailPos = total - tiling->inputTailSize;
  tiling->meanVarRoundSize = tiling->inputRoundSize / row;
  tiling->meanVarTailSize = tiling->inputTailSize / row;
  tiling->meanVarTailPos = rows - tiling->meanVarTailSize;
}

#define ACLSIM_SET_(type, name) to->set_##name(from.name);
#define ACLSIM_COPY_(Name, FIELDS) \
  void Copy(const ::Name& from, optiling::Name* to) { FIELDS(ACLSIM_SET_) }
ACLSIM_COPY_(LayerNormTiling, ACLSIM_LAYER_NORM_TILING)
ACLSIM_COPY_(LayerNormSeparateTiling, ACLSIM_LAYER_NORM_SEPARATE_TILING)
ACLSIM_COPY_(RmsNormTiling, ACLSIM_RMS_NORM_TILING)
ACLSIM_COPY_(GroupNormTiling, ACLSIM_GROUP_NORM_TILING)
ACLSIM_COPY_(BatchNormTiling, ACLSIM_BATCH_NORM_TILING)
#undef ACLSIM_COPY_
#undef ACLSIM_SET_

constexpr uint32_t kBasicColumns = 64;
constexpr uint32_t kBasicRows = 8;
bool IsBasic(uint32_t rows, uint32_t columns) {
  return columns % kBasicColumns == 0 && rows % kBasicRows == 0;
}

// The structs stay zero when the scratch holds no row.
::LayerNormTiling SplitLayerNorm(const ge::Shape& shape, uint32_t scratch, uint32_t typeSize,
                                 bool reuseSource) {
  ::LayerNormTiling tiling;
  const uint32_t rows = Dim(shape, 0) * Dim(shape, 1);
  const uint32_t columns = Dim(shape, 2);
  const uint32_t temporaries = reuseSource && typeSize == kFloatBytes ? 2 : 3;
  const uint32_t statistics = RoundUp(rows, kFloatsPerBlock);
  const uint32_t kept = typeSize == kFloatBytes ? 0 : 2 * statistics;
  const uint32_t one = AtATime(scratch / kFloatBytes, kept, temporaries, columns, rows * columns);
  if (one == 0) {
    return tiling;
  }
  tiling.bLength = Dim(shape, 0);
  tiling.sLength = Dim(shape, 1);
  tiling.hLength = columns;
  tiling.originalHLength = Dim(shape, 3);
  tiling.inputXSize = rows * columns;
  tiling.meanVarSize = rows;
  tiling.numberOfTmpBuf = temporaries;
  tiling.meanTmpTensorSize = tiling.varianceTmpTensorSize = statistics;
  tiling.varianceTmpTensorPos = statistics;
  tiling.tmpBufSize = scratch / kFloatBytes;
  tiling.oneTmpSize = tiling.bshCurLength = one;
  tiling.firstTmpStartPos = kept;
  tiling.secondTmpStartPos = kept + one;
  tiling.thirdTmpStartPos = kept + 2 * one;
  SetRounds(&tiling, rows * columns, columns, rows);
  tiling.bsCurLength = tiling.meanVarRoundSize;
  tiling.lastDimValueBack = 1.0f / static_cast<float>(tiling.originalHLength);
  return tiling;
}

::LayerNormSeparateTiling SplitLayerNormRows(const ge::Shape& shape, uint32_t scratch,
                                             uint32_t typeSize) {
  ::LayerNormSeparateTiling tiling;
  const uint32_t rows = Dim(shape, 0);
  const uint32_t columns = PaddedTo(Dim(shape, 1), typeSize);
  const uint32_t kept = RoundUp(rows, kFloatsPerBlock);
  constexpr uint32_t kTemporaries = 2;
  const uint32_t one = AtATime(scratch / kFloatBytes, kept, kTemporaries, columns, rows * columns);
  if (one == 0) {
    return tiling;
  }
  tiling.aLength = rows;
  tiling.rLength = Dim(shape, 1);
  tiling.inputXSize = rows * columns;
  tiling.meanVarSize = rows;
  tiling.numberOfTmpBuf = kTemporaries;
  tiling.varianceTmpTensorSize = kept;
  tiling.tmpBufSize = scratch / kFloatBytes;
  tiling.oneTmpSize = tiling.arCurLength = one;
  tiling.firstTmpStartPos = kept;
  tiling.secondTmpStartPos = kept + one;
  SetRounds(&tiling, rows * columns, columns, rows);
  tiling.aCurLength = tiling.meanVarRoundSize;
  tiling.rValueBack = 1.0f / static_cast<float>(tiling.rLength);
  return tiling;
}

bool SplitRmsNorm(const ge::Shape& shape, const ge::Shape& origin, uint32_t scratch,
                  uint32_t typeSize, bool basicBlock, ::RmsNormTiling* tiling) {
  constexpr size_t kRank = 3;
  constexpr uint32_t kMostRows = 255;
  const uint32_t rows = Dim(shape, 0) * Dim(shape, 1);
  const uint32_t columns = Dim(shape, 2);
  const uint32_t counted = Dim(origin, 2);
  uint32_t most = 0;
  uint32_t least = 0;
  const bool same = shape.GetDimNum() == kRank && origin.GetDimNum() == kRank &&
                    Dim(shape, 0) == Dim(origin, 0) && Dim(shape, 1) == Dim(origin, 1);
  if (!same || columns < counted || counted == 0 || columns * typeSize % kBlockBytes != 0 ||
      !GetRmsNormMaxMinTmpSize(shape, typeSize, most, least, basicBlock) || scratch < least) {
    return false;
  }
  const uint32_t perRow = columns * (typeSize == kFloatBytes ? 1 : 2);
  uint32_t atATime = 1;
  while (scratch / kFloatBytes >= (atATime + 1) * perRow + RoundUp(atATime + 1, kFloatsPerBlock)) {
    ++atATime;
  }
  atATime = std::min(atATime, rows);
  if (!basicBlock) {
    atATime = std::min(atATime, kMostRows);
  } else if (atATime >= kBasicRows) {
    atATime -= atATime % kBasicRows;
  }
  tiling->bLength = Dim(shape, 0);
  tiling->sLength = Dim(shape, 1);
  tiling->hLength = columns;
  tiling->originalHLength = counted;
  tiling->reciprocalOfHLength = 1.0f / static_cast<float>(counted);
  tiling->mainBshLength = atATime * columns;
  tiling->mainBsLength = atATime;
  tiling->mainBsLengthAlign = RoundUp(atATime, kFloatsPerBlock);
  tiling->loopRound = rows / atATime;
  tiling->tailBsLength = rows % atATime;
  tiling->tailBshLength = tiling->tailBsLength * columns;
  tiling->inputTailPos = rows * columns - tiling->tailBshLength;
  return true;
}

// Groups of few elements are summed several at a time: as many as one instruction has repeats for.
uint32_t SmallGroupsAtATime(uint32_t group, uint32_t atATime) {
  constexpr uint32_t kLanes = 64;
  constexpr uint32_t kStep = 8;
  constexpr uint32_t kRepeats = 255;
  uint32_t lanes = group;
  if (group > kLanes) {
    lanes = kLanes;
    while (group % lanes != 0) {
      lanes -= kStep;
    }
  }
  return std::min(atATime, kRepeats / (group / lanes) / kStep * kStep);
}

::GroupNormTiling SplitGroupNorm(const ge::Shape& shape, uint32_t scratch, uint32_t typeSize,
                                 bool reuseSource, uint32_t groups) {
  constexpr uint32_t kLanes = 64;
  constexpr uint32_t kMostRepeats = 8;
  ::GroupNormTiling tiling;
  const uint32_t channels = Dim(shape, 1);
  const uint32_t pixels = Dim(shape, 2) * Dim(shape, 3);
  const uint32_t channel = PaddedTo(pixels, typeSize);
  const uint32_t group = channels / groups * channel;
  const uint32_t rows = Dim(shape, 0) * groups;
  const uint32_t statistics = RoundUp(rows, kFloatsPerBlock);
  const uint32_t kept = typeSize == kFloatBytes ? 0 : 2 * statistics;
  const uint32_t temporaries = reuseSource && typeSize == kFloatBytes ? 2 : 3;
  const uint32_t floats = scratch / kBlockBytes * kFloatsPerBlock;
  if (group == 0 || floats < kept) {
    return tiling;
  }
  uint32_t repeats = kMostRepeats;
  while (group / kFloatsPerBlock % repeats != 0) {
    --repeats;
  }
  const bool small = channel <= kLanes && group <= kLanes * repeats;
  uint32_t atATime = (floats - kept) / temporaries / group;
  if (small) {
    atATime = SmallGroupsAtATime(group, atATime);
  }
  if (atATime == 0 || (typeSize == kHalfBytes && atATime * group < channels)) {
    return tiling;
  }
  atATime = std::min(atATime, rows);
  const uint32_t one = atATime * group;
  tiling.n = Dim(shape, 0);
  tiling.c = channels;
  tiling.hw = pixels;
  tiling.g = groups;
  tiling.d = channels / groups;
  tiling.hwAlignSize = channel;
  tiling.dhwAlignSize = group;
  tiling.inputXSize = rows * group;
  tiling.meanVarSize = rows;
  tiling.numberOfTmpBuf = temporaries;
  tiling.meanTmpTensorSize = tiling.varianceTmpTensorSize = statistics;
  tiling.varianceTmpTensorPos = statistics;
  tiling.tmpBufSize = floats;
  tiling.oneTmpSize = tiling.bshCurLength = one;
  tiling.firstTmpStartPos = kept;
  tiling.secondTmpStartPos = kept + one;
  tiling.thirdTmpStartPos = kept + 2 * one;
  SetRounds(&tiling, rows * group, group, rows);
  tiling.bsCurLength = atATime;
  tiling.factor = 1.0f / static_cast<float>(tiling.d * pixels);
  tiling.smallShape = small;
  return tiling;
}

bool SplitBatchNorm(const ge::Shape& shape, const ge::Shape& origin, uint32_t scratch,
                    uint32_t typeSize, bool basicBlock, ::BatchNormTiling* tiling) {
  constexpr size_t kRank = 3;
  constexpr uint32_t kTemporaries = 3;
  const uint32_t batches = Dim(origin, 0);
  const uint32_t batch = Dim(shape, 1) * Dim(shape, 2);
  uint32_t most = 0;
  uint32_t least = 0;
  if (shape.GetDimNum() != kRank || origin.GetDimNum() != kRank || batches == 0 ||
      batch * typeSize % kBlockBytes != 0 ||
      !GetBatchNormMaxMinTmpSize(shape, origin, typeSize, false, most, least, basicBlock) ||
      scratch < least) {
    return false;
  }
  const uint32_t statistics = RoundUp(batch, kFloatsPerBlock);
  const uint32_t kept = typeSize == kFloatBytes ? 0 : 2 * statistics;
  const uint32_t unit = typeSize == kFloatBytes ? kFloatsPerBlock : 2 * kFloatsPerBlock;
  uint32_t columns =
      AtATime(scratch / kFloatBytes, kept, kTemporaries, batches * unit, batches * batch) / batches;
  if (basicBlock) {
    columns -= columns % kBasicColumns;
  }
  if (columns == 0) {
    return false;
  }
  const uint32_t one = columns * batches;
  tiling->originalBLength = batches;
  tiling->meanVarSize = batch;
  tiling->varianceTmpTensorPos = statistics;
  tiling->tmpBufSize = scratch / kFloatBytes;
  tiling->oneTmpSize = tiling->bshCurLength = one;
  tiling->firstTmpStartPos = kept;
  tiling->secondTmpStartPos = kept + one;
  tiling->thirdTmpStartPos = kept + 2 * one;
  tiling->loopRound = batches * batch / one;
  tiling->inputTailSize = batches * batch % one;
  tiling->meanVarTailSize = tiling->inputTailSize / batches;
  tiling->inputTailPos = tiling->meanVarTailPos = batch - tiling->meanVarTailSize;
  tiling->shCurLength = columns;
  tiling->firstDimValueBack = 1.0f / static_cast<float>(batches);
  tiling->castHalfRepStride = kFloatsPerBlock / 2;
  tiling->shCurLengthBlockNum = columns / kFloatsPerBlock;
  tiling->castHalfOutRepStride = batch / (2 * kFloatsPerBlock);
  return true;
}

}  // namespace

void GetLayerNormMaxMinTmpSize(const ge::Shape& srcShape, uint32_t typeSize, bool isReuseSource,
                               uint32_t& maxValue, uint32_t& minValue) {
  const uint32_t rows = Dim(srcShape, 0) * Dim(srcShape, 1);
  const uint32_t columns = Dim(srcShape, 2);
  minValue = Bytes(aclsim::LayerNormScratch(typeSize, rows, columns, isReuseSource));
  // All rows at a time instead of one.
  const uint32_t temporaries = isReuseSource && typeSize == kFloatBytes ? 2 : 3;
  maxValue = temporaries * RoundUp(rows * columns * kFloatBytes, kBlockBytes) +
             2 * RoundUp(rows * kFloatBytes, kBlockBytes);
}

void GetNormalizeMaxMinTmpSize(const ge::Shape& srcShape, uint32_t typeSizeU, uint32_t typeSizeT,
                               bool, bool, bool, uint32_t& maxValue, uint32_t& minValue) {
  const uint32_t rows = Dim(srcShape, 0);
  const uint32_t columns = PaddedTo(Dim(srcShape, 1), typeSizeT);
  minValue = Bytes(aclsim::NormalizeScratch(typeSizeU, rows, columns));
  maxValue = 2 * RoundUp(columns * kFloatBytes, kBlockBytes) +
             2 * RoundUp(RoundUp(rows, kFloatsPerBlock) * columns * kFloatBytes, kBlockBytes);
}

void GetLayerNormMaxMinTmpSize(const ge::Shape& srcShape, uint32_t typeSize, bool isReuseSource,
                               bool isComputeRstd, bool isOnlyOutput, uint32_t& maxValue,
                               uint32_t& minValue) {
  const uint32_t rows = Dim(srcShape, 0);
  const uint32_t columns = PaddedTo(Dim(srcShape, 1), typeSize);
  uint32_t most = 0;
  uint32_t least = 0;
  GetNormalizeMaxMinTmpSize(srcShape, typeSize, typeSize, isReuseSource, isComputeRstd,
                            isOnlyOutput, most, least);
  minValue = Bytes(aclsim::LayerNormRowsScratch(typeSize, rows, columns));
  maxValue = std::max(2 * RoundUp(rows * columns * kFloatBytes, kBlockBytes), most) +
             RoundUp(rows * kFloatBytes, kBlockBytes);
}

void GetWelfordUpdateMaxMinTmpSize(const ge::Shape& srcShape, uint32_t typeSizeT, uint32_t,
                                   bool isReuseSource, bool, uint32_t& maxValue,
                                   uint32_t& minValue) {
  constexpr uint32_t kLanes = aclsim::kScratchRepeat / kFloatBytes;
  minValue = Bytes(aclsim::WelfordUpdateScratch(typeSizeT, isReuseSource));
  maxValue = (Dim(srcShape, 0) * Dim(srcShape, 1) + kLanes - 1) / kLanes * minValue;
}

void GetWelfordFinalizeMaxMinTmpSize(const ge::Shape& srcShape, uint32_t, bool, uint32_t& maxValue,
                                     uint32_t& minValue) {
  constexpr uint32_t kLanes = aclsim::kScratchRepeat / kFloatBytes;
  minValue = Bytes(aclsim::kWelfordFinalizeScratch);
  maxValue = 2 * (kLanes + std::max(Dim(srcShape, 0), kLanes)) * kFloatBytes;
}

bool GetRmsNormMaxMinTmpSize(const ge::Shape& srcShape, uint32_t typeSize, uint32_t& maxValue,
                             uint32_t& minValue, bool isBasicBlock) {
  constexpr uint32_t kLongestBasic = 2048;
  const uint32_t rows = Dim(srcShape, 0) * Dim(srcShape, 1);
  const uint32_t columns = Dim(srcShape, 2);
  if (isBasicBlock && (!IsBasic(rows, columns) || columns >= kLongestBasic)) {
    return false;
  }
  minValue = Bytes(aclsim::RmsNormScratch(typeSize, columns));
  maxValue =
      (rows * columns * (typeSize == kHalfBytes ? 2 : 1) + PaddedTo(rows, typeSize)) * kFloatBytes;
  return true;
}

void GetGroupNormMaxMinTmpSize(const ge::Shape& srcShape, uint32_t typeSize, bool isReuseSource,
                               uint32_t groupNum, uint32_t& maxValue, uint32_t& minValue) {
  const uint32_t channels = Dim(srcShape, 1);
  const uint32_t channel = PaddedTo(Dim(srcShape, 2) * Dim(srcShape, 3), typeSize);
  const uint32_t rows = Dim(srcShape, 0) * groupNum;
  const auto scratch = [&](uint32_t elements) {
    return Bytes(aclsim::GroupNormScratch(typeSize, rows, elements, isReuseSource));
  };
  minValue = scratch(channels / groupNum * channel);
  maxValue = scratch(Dim(srcShape, 0) * channels * channel);
}

bool GetBatchNormMaxMinTmpSize(const ge::Shape& srcShape, const ge::Shape& originSrcShape,
                               uint32_t typeSize, bool, uint32_t& maxValue, uint32_t& minValue,
                               bool isBasicBlock) {
  const uint32_t batches = Dim(originSrcShape, 0);
  const uint32_t batch = Dim(srcShape, 1) * Dim(srcShape, 2);
  if (isBasicBlock && !IsBasic(batches, batch)) {
    return false;
  }
  minValue = Bytes(aclsim::BatchNormScratch(typeSize, batches, batch, isBasicBlock));
  maxValue = 3 * RoundUp(batches * batch * kFloatBytes, kBlockBytes) +
             2 * RoundUp(batch * kFloatBytes, kBlockBytes);
  return true;
}

void GetLayerNormNDTilingInfo(const ge::Shape& srcShape, uint32_t stackBufferSize,
                              uint32_t typeSize, bool isReuseSource, ::LayerNormTiling& tiling) {
  tiling = SplitLayerNorm(srcShape, stackBufferSize, typeSize, isReuseSource);
}
void GetLayerNormNDTilingInfo(const ge::Shape& srcShape, uint32_t stackBufferSize,
                              uint32_t typeSize, bool isReuseSource,
                              optiling::LayerNormTiling& tiling) {
  Copy(SplitLayerNorm(srcShape, stackBufferSize, typeSize, isReuseSource), &tiling);
}
void GetLayerNormNDTilingInfo(const ge::Shape& srcShape, uint32_t stackBufferSize,
                              uint32_t typeSize, bool, bool, ::LayerNormSeparateTiling& tiling) {
  tiling = SplitLayerNormRows(srcShape, stackBufferSize, typeSize);
}
void GetLayerNormNDTilingInfo(const ge::Shape& srcShape, uint32_t stackBufferSize,
                              uint32_t typeSize, bool, bool,
                              optiling::LayerNormSeparateTiling& tiling) {
  Copy(SplitLayerNormRows(srcShape, stackBufferSize, typeSize), &tiling);
}
bool GetRmsNormTilingInfo(const ge::Shape& srcShape, const ge::Shape& originSrcShape,
                          uint32_t stackBufferByteSize, uint32_t typeSize, ::RmsNormTiling& tiling,
                          bool isBasicBlock) {
  return SplitRmsNorm(srcShape, originSrcShape, stackBufferByteSize, typeSize, isBasicBlock,
                      &tiling);
}
bool GetRmsNormTilingInfo(const ge::Shape& srcShape, const ge::Shape& originSrcShape,
                          uint32_t stackBufferByteSize, uint32_t typeSize,
                          optiling::RmsNormTiling& tiling, bool isBasicBlock) {
  ::RmsNormTiling filled;
  const bool done =
      SplitRmsNorm(srcShape, originSrcShape, stackBufferByteSize, typeSize, isBasicBlock, &filled);
  if (done) {
    Copy(filled, &tiling);
  }
  return done;
}
void GetGroupNormNDTilingInfo(const ge::Shape& srcShape, uint32_t stackBufferSize,
                              uint32_t typeSize, bool isReuseSource, uint32_t groupNum,
                              ::GroupNormTiling& tiling) {
  tiling = SplitGroupNorm(srcShape, stackBufferSize, typeSize, isReuseSource, groupNum);
}
void GetGroupNormNDTilingInfo(const ge::Shape& srcShape, uint32_t stackBufferSize,
                              uint32_t typeSize, bool isReuseSource, uint32_t groupNum,
                              optiling::GroupNormTiling& tiling) {
  Copy(SplitGroupNorm(srcShape, stackBufferSize, typeSize, isReuseSource, groupNum), &tiling);
}
bool GetBatchNormNDTilingInfo(const ge::Shape& srcShape, const ge::Shape& originSrcShape,
                              uint32_t stackBufferByteSize, uint32_t typeSize, bool,
                              ::BatchNormTiling& tilling, bool isBasicBlock) {
  return SplitBatchNorm(srcShape, originSrcShape, stackBufferByteSize, typeSize, isBasicBlock,
                        &tilling);
}
bool GetBatchNormNDTilingInfo(const ge::Shape& srcShape, const ge::Shape& originSrcShape,
                              uint32_t stackBufferByteSize, uint32_t typeSize, bool,
                              optiling::BatchNormTiling& tilling, bool isBasicBlock) {
  ::BatchNormTiling filled;
  const bool done = SplitBatchNorm(srcShape, originSrcShape, stackBufferByteSize, typeSize,
                                   isBasicBlock, &filled);
  if (done) {
    Copy(filled, &tilling);
  }
  return done;
}

}  // namespace AscendC
