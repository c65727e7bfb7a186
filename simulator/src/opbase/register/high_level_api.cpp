// SPDX-License-Identifier: Apache-2.0
// Scratch and tiling of softmax.
#include "tiling/high_level_api.h"

#include <algorithm>

#include "device/high_sizes.h"
#include "kernel_tiling/softmax_split.h"

namespace AscendC {
namespace {

using aclsim::kFloatBytes;
using aclsim::kFloatsOfABlock;
using aclsim::kFloatsOfARepeat;
using Rows = aclsim::SoftmaxRows;

// Types of another size have no scratch and no rows.
bool IsSoftmaxType(uint32_t typeSize) {
  return typeSize == kFloatBytes / 2 || typeSize == kFloatBytes;
}

Rows RowsOf(const ge::Shape& shape, uint32_t typeSize) {
  if (!IsSoftmaxType(typeSize)) return {};
  const size_t rank = shape.GetDimNum();
  const auto columns = static_cast<uint32_t>(rank == 0 ? 1 : shape.GetDim(rank - 1));
  const auto size = static_cast<uint32_t>(shape.GetShapeSize());
  return {columns == 0 ? 0 : size / columns, columns, aclsim::kSoftmaxBlockBytes / typeSize};
}

// Floats of scratch per row: the row, a block for its maximum or sum, and one repeat of partial sums.
constexpr uint32_t kRowExtra = kFloatsOfARepeat;

uint32_t SoftMaxRow(const Rows& rows) {
  return rows.blockElements == 0 ? 0 : rows.blockElements + rows.columns + kRowExtra;
}

uint32_t SoftMaxGradRow(const Rows& rows, uint32_t typeSize, bool front) {
  if (rows.blockElements == 0) return 0;
  if (typeSize != kFloatBytes) return 2 * rows.blockElements + 3 * rows.columns + kRowExtra;
  return (front ? 1 : 2) * rows.blockElements + rows.columns + kRowExtra;
}

uint32_t RowsAtATime(const Rows& rows, uint32_t rowFloats, uint32_t scratchBytes) {
  if (rowFloats == 0) return 0;
  const uint32_t split = std::min(scratchBytes / kFloatBytes / rowFloats, rows.count);
  return split < rows.count && split > kFloatsOfABlock ? split - split % kFloatsOfABlock : split;
}

::SoftMaxTiling SplitEvenly(const Rows& rows, uint32_t rowFloats, uint32_t scratchBytes) {
  return aclsim::SplitSoftmaxRows(
      rows, aclsim::EvenSoftmaxRows(rows, RowsAtATime(rows, rowFloats, scratchBytes)));
}

template <typename Host>
void Copy(const ::SoftMaxTiling& from, Host* to) {
#define ACLSIM_SET_(type, name) to->set_##name(from.name);
  ACLSIM_SOFTMAX_TILING(ACLSIM_SET_)
#undef ACLSIM_SET_
}

}  // namespace

uint32_t GetSoftMaxMaxTmpSize(const ge::Shape& srcShape, uint32_t dataTypeSize, bool) {
  const Rows rows = RowsOf(srcShape, dataTypeSize);
  return rows.count * SoftMaxRow(rows) * kFloatBytes;
}
uint32_t GetSoftMaxMinTmpSize(const ge::Shape& srcShape, uint32_t dataTypeSize, bool) {
  return SoftMaxRow(RowsOf(srcShape, dataTypeSize)) * kFloatBytes;
}
uint32_t GetSoftMaxGradMaxTmpSize(const ge::Shape& srcShape, uint32_t dataTypeSize, bool isFront,
                                  bool) {
  const Rows rows = RowsOf(srcShape, dataTypeSize);
  return rows.count * SoftMaxGradRow(rows, dataTypeSize, isFront) * kFloatBytes;
}
uint32_t GetSoftMaxGradMinTmpSize(const ge::Shape& srcShape, uint32_t dataTypeSize, bool isFront,
                                  bool) {
  return SoftMaxGradRow(RowsOf(srcShape, dataTypeSize), dataTypeSize, isFront) * kFloatBytes;
}

void SoftMaxTilingFunc(const ge::Shape& srcShape, uint32_t dataTypeSize,
                       uint32_t localWorkSpaceSize, ::SoftMaxTiling& softmaxTiling) {
  const Rows rows = RowsOf(srcShape, dataTypeSize);
  softmaxTiling = SplitEvenly(rows, SoftMaxRow(rows), localWorkSpaceSize);
}
void SoftMaxTilingFunc(const ge::Shape& srcShape, uint32_t dataTypeSize,
                       uint32_t localWorkSpaceSize, optiling::SoftMaxTiling& softmaxTiling) {
  ::SoftMaxTiling tiling;
  SoftMaxTilingFunc(srcShape, dataTypeSize, localWorkSpaceSize, tiling);
  Copy(tiling, &softmaxTiling);
}
void SoftMaxGradTilingFunc(const ge::Shape& srcShape, uint32_t dataTypeSize,
                           uint32_t localWorkSpaceSize, ::SoftMaxTiling& softmaxGradTiling,
                           bool isFront) {
  const Rows rows = RowsOf(srcShape, dataTypeSize);
  softmaxGradTiling =
      SplitEvenly(rows, SoftMaxGradRow(rows, dataTypeSize, isFront), localWorkSpaceSize);
}
void SoftMaxGradTilingFunc(const ge::Shape& srcShape, uint32_t dataTypeSize,
                           uint32_t localWorkSpaceSize, optiling::SoftMaxTiling& softmaxGradTiling,
                           bool isFront) {
  ::SoftMaxTiling tiling;
  SoftMaxGradTilingFunc(srcShape, dataTypeSize, localWorkSpaceSize, tiling, isFront);
  Copy(tiling, &softmaxGradTiling);
}

namespace {

uint32_t Unsigned(int64_t value) { return static_cast<uint32_t>(value); }

::SoftMaxTiling SplitFlash(const ge::Shape& shape, uint32_t typeSize, uint32_t scratch,
                           bool update) {
  const Rows rows = RowsOf(shape, typeSize);
  if (!IsSoftmaxType(typeSize)) return {};
  return SplitEvenly(rows, Unsigned(aclsim::FlashRow(typeSize, rows.columns, update)), scratch);
}

bool IsBasicMatrix(const Rows& rows, bool basicBlock) {
  return aclsim::IsFlashBasic(rows.columns, basicBlock) && rows.count % kFloatsOfABlock == 0;
}

bool IsBasicBlock(uint32_t columns, uint32_t tail, uint32_t typeSize) {
  constexpr uint32_t kLongest = 2048;
  return typeSize != 0 && tail == 0 && columns >= aclsim::kSoftmaxRepeatBytes / typeSize &&
         columns < kLongest && columns % kRowExtra == 0;
}

}  // namespace

uint32_t GetSoftMaxFlashMaxTmpSize(const ge::Shape& srcShape, uint32_t dataTypeSize, bool isUpdate,
                                   bool) {
  return RowsOf(srcShape, dataTypeSize).count *
         GetSoftMaxFlashMinTmpSize(srcShape, dataTypeSize, isUpdate, false);
}
uint32_t GetSoftMaxFlashMinTmpSize(const ge::Shape& srcShape, uint32_t dataTypeSize, bool isUpdate,
                                   bool) {
  if (!IsSoftmaxType(dataTypeSize)) return 0;
  const Rows rows = RowsOf(srcShape, dataTypeSize);
  return Unsigned(aclsim::FlashRow(dataTypeSize, rows.columns, isUpdate)) * kFloatBytes;
}
uint32_t GetSoftMaxFlashV2MaxTmpSize(const ge::Shape& srcShape, uint32_t dataTypeSize1,
                                     uint32_t dataTypeSize2, bool, bool isBasicBlock, bool) {
  if (!IsSoftmaxType(dataTypeSize1) || !IsSoftmaxType(dataTypeSize2)) return 0;
  constexpr uint32_t kMostElements =
      aclsim::kSoftmaxRepeatBytes / kFloatBytes * aclsim::kSoftmaxRepeatBytes;
  Rows rows = RowsOf(srcShape, dataTypeSize2);
  const bool basic = IsBasicMatrix(rows, isBasicBlock);
  while (basic && rows.count * rows.columns >= kMostElements) {
    rows.count /= 2;
  }
  return rows.count *
         Unsigned(aclsim::FlashV2Row(dataTypeSize1, dataTypeSize2, rows.columns, basic)) *
         kFloatBytes;
}
uint32_t GetSoftMaxFlashV2MinTmpSize(const ge::Shape& srcShape, uint32_t dataTypeSize1,
                                     uint32_t dataTypeSize2, bool, bool isBasicBlock,
                                     bool isFlashOutputBrc) {
  if (!IsSoftmaxType(dataTypeSize1) || !IsSoftmaxType(dataTypeSize2)) return 0;
  const Rows rows = RowsOf(srcShape, dataTypeSize2);
  return Unsigned(aclsim::FlashV2Scratch(dataTypeSize1, dataTypeSize2, rows.count, rows.columns,
                                         isBasicBlock, isFlashOutputBrc));
}
void SoftMaxFlashTilingFunc(const ge::Shape& srcShape, uint32_t dataTypeSize,
                            uint32_t localWorkSpaceSize, ::SoftMaxTiling& softmaxFlashTiling,
                            bool isUpdate) {
  softmaxFlashTiling = SplitFlash(srcShape, dataTypeSize, localWorkSpaceSize, isUpdate);
}
void SoftMaxFlashTilingFunc(const ge::Shape& srcShape, uint32_t dataTypeSize,
                            uint32_t localWorkSpaceSize,
                            optiling::SoftMaxTiling& softmaxFlashTiling, bool isUpdate) {
  Copy(SplitFlash(srcShape, dataTypeSize, localWorkSpaceSize, isUpdate), &softmaxFlashTiling);
}
void SoftMaxFlashV2TilingFunc(const ge::Shape& srcShape, uint32_t dataTypeSize1,
                              uint32_t dataTypeSize2, uint32_t localWorkSpaceSize,
                              ::SoftMaxTiling& softmaxFlashTiling, bool, bool isBasicBlock,
                              bool isFlashOutputBrc) {
  softmaxFlashTiling = {};
  if (!IsSoftmaxType(dataTypeSize1) || !IsSoftmaxType(dataTypeSize2)) return;
  softmaxFlashTiling =
      aclsim::SplitFlashV2(RowsOf(srcShape, dataTypeSize2), dataTypeSize1, dataTypeSize2,
                           localWorkSpaceSize, isBasicBlock, isFlashOutputBrc);
}
void SoftMaxFlashV2TilingFunc(const ge::Shape& srcShape, uint32_t dataTypeSize1,
                              uint32_t dataTypeSize2, uint32_t localWorkSpaceSize,
                              optiling::SoftMaxTiling& softmaxFlashTiling, bool, bool isBasicBlock,
                              bool isFlashOutputBrc) {
  ::SoftMaxTiling tiling;
  SoftMaxFlashV2TilingFunc(srcShape, dataTypeSize1, dataTypeSize2, localWorkSpaceSize, tiling,
                           false, isBasicBlock, isFlashOutputBrc);
  Copy(tiling, &softmaxFlashTiling);
}
bool IsBasicBlockInSoftMax(::SoftMaxTiling& tiling, uint32_t dataTypeSize) {
  return IsBasicBlock(tiling.srcK, tiling.tailM, dataTypeSize);
}
bool IsBasicBlockInSoftMax(optiling::SoftMaxTiling& tiling, uint32_t dataTypeSize) {
  return IsBasicBlock(tiling.get_srcK(), tiling.get_tailM(), dataTypeSize);
}

uint32_t GetLogSoftMaxMaxTmpSize(const ge::Shape& srcShape, uint32_t dataTypeSize, bool) {
  return GetSoftMaxMaxTmpSize(srcShape, dataTypeSize, false);
}
uint32_t GetLogSoftMaxMinTmpSize(const ge::Shape& srcShape, uint32_t dataTypeSize, bool) {
  return GetSoftMaxMinTmpSize(srcShape, dataTypeSize, false);
}
void LogSoftMaxTilingFunc(const ge::Shape& srcShape, uint32_t dataTypeSize,
                          uint32_t localWorkSpaceSize, ::LogSoftMaxTiling& softmaxTiling) {
  const Rows rows = RowsOf(srcShape, dataTypeSize);
  static_cast<::SoftMaxTiling&>(softmaxTiling) =
      SplitEvenly(rows, SoftMaxRow(rows), localWorkSpaceSize);
}
void LogSoftMaxTilingFunc(const ge::Shape& srcShape, uint32_t dataTypeSize,
                          uint32_t localWorkSpaceSize, optiling::LogSoftMaxTiling& softmaxTiling) {
  ::LogSoftMaxTiling tiling;
  LogSoftMaxTilingFunc(srcShape, dataTypeSize, localWorkSpaceSize, tiling);
  Copy(tiling, &softmaxTiling);
}

namespace {

bool FillTopK(int32_t inner, int32_t outter, int32_t k, uint32_t typeSize, bool hasIndex,
              TopKMode mode, bool largest, ::TopkTiling* tiling) {
  constexpr int32_t kUnit = 32;
  constexpr int32_t kStructure = 8;
  if (inner <= 0 || inner % kUnit != 0 || outter <= 0 || k <= 0 || k > inner || typeSize == 0) {
    return false;
  }
  const bool small = mode == TopKMode::TOPK_NSMALL;
  const auto width = static_cast<int32_t>(typeSize);
  const auto padded = [&](int32_t unit) { return (k + unit - 1) / unit * unit; };
  *tiling = {};
  tiling->tmpLocalSize =
      static_cast<int32_t>(aclsim::TopKScratch(outter, inner, small, hasIndex, largest)) / width;
  tiling->allDataSize = inner * outter;
  tiling->innerDataSize = inner * (small ? outter : 1) * kStructure / width;
  tiling->sortRepeat = static_cast<uint32_t>(inner / kUnit * (small ? outter : 1));
  tiling->kAlignFourBytes = padded(kUnit / 4);
  tiling->kAlignTwoBytes = padded(kUnit / 2);
  return true;
}

}  // namespace

bool GetTopKMaxMinTmpSize(const platform_ascendc::PlatformAscendC&, int32_t inner, int32_t outter,
                          bool, bool isInitIndex, TopKMode mode, bool isLargest, uint32_t,
                          uint32_t& maxValue, uint32_t& minValue) {
  minValue = maxValue = Unsigned(
      aclsim::TopKScratch(outter, inner, mode == TopKMode::TOPK_NSMALL, isInitIndex, isLargest));
  return true;
}
bool TopKTilingFunc(const platform_ascendc::PlatformAscendC&, int32_t inner, int32_t outter,
                    int32_t k, uint32_t dataTypeSize, bool isInitIndex, TopKMode mode,
                    bool isLargest, ::TopkTiling& topKTiling) {
  return FillTopK(inner, outter, k, dataTypeSize, isInitIndex, mode, isLargest, &topKTiling);
}
bool TopKTilingFunc(const platform_ascendc::PlatformAscendC&, int32_t inner, int32_t outter,
                    int32_t k, uint32_t dataTypeSize, bool isInitIndex, TopKMode mode,
                    bool isLargest, optiling::TopkTiling& topKTiling) {
  ::TopkTiling from;
  optiling::TopkTiling* const to = &topKTiling;
  const bool done = FillTopK(inner, outter, k, dataTypeSize, isInitIndex, mode, isLargest, &from);
#define ACLSIM_SET_(type, name) to->set_##name(from.name);
  ACLSIM_TOPK_TILING(ACLSIM_SET_)
#undef ACLSIM_SET_
  return done;
}

}  // namespace AscendC
