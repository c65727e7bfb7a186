// SPDX-License-Identifier: Apache-2.0
// How the rows of a softmax are cut into pieces that fit its scratch: for host tiling and for kernels that tile themselves.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernel_tiling/kernel_tiling.h"

namespace aclsim {

inline constexpr uint32_t kSoftmaxRepeatBytes = 256;
inline constexpr uint32_t kSoftmaxBlockBytes = 32;
inline constexpr uint32_t kFloatBytes = sizeof(float);
inline constexpr uint32_t kFloatsOfABlock = kSoftmaxBlockBytes / kFloatBytes;
inline constexpr uint32_t kFloatsOfARepeat = kSoftmaxRepeatBytes / kFloatBytes;

struct SoftmaxRows {
  uint32_t count;
  uint32_t columns;
  uint32_t blockElements;
};

// Whole matrices of eight rows are cut evenly, into no more elements at a time than repeats can count.
constexpr uint32_t EvenSoftmaxRows(const SoftmaxRows& rows, uint32_t split) {
  constexpr uint32_t kMostElements = kFloatsOfARepeat * kSoftmaxRepeatBytes;
  if (split <= kFloatsOfABlock || rows.count % kFloatsOfABlock != 0 ||
      rows.columns % kFloatsOfARepeat != 0) {
    return split;
  }
  split -= split % kFloatsOfABlock;
  while (rows.count % split != 0) {
    split -= kFloatsOfABlock;
  }
  while (split * rows.columns >= kMostElements) {
    split /= 2;
  }
  return split;
}

constexpr ::SoftMaxTiling SplitSoftmaxRows(const SoftmaxRows& rows, uint32_t split) {
  const uint32_t tail = split == 0 ? 0 : rows.count % split;
  ::SoftMaxTiling tiling;
  tiling.srcM = tiling.outMaxM = rows.count;
  tiling.srcK = tiling.splitK = rows.columns;
  tiling.srcSize = rows.count * rows.columns;
  tiling.outMaxK = tiling.reduceK = rows.blockElements;
  tiling.outMaxSize = rows.count * rows.blockElements;
  tiling.splitM = tiling.reduceM = split;
  tiling.splitSize = split * rows.columns;
  tiling.reduceSize = split * rows.blockElements;
  tiling.rangeM = split == 0 ? 0 : rows.count / split;
  tiling.tailM = tail;
  tiling.tailSplitSize = tail * rows.columns;
  tiling.tailReduceSize = tail * rows.blockElements;
  return tiling;
}

// SoftmaxFlashV2, floats of scratch per row of n elements: blocks of statistics, the row where it is widened, partial sums.
constexpr bool IsFlashBasic(int64_t n, bool basicBlock) {
  return basicBlock && n % kFloatsOfARepeat == 0;
}
constexpr int64_t FlashV2Row(int64_t width, int64_t statisticWidth, int64_t n, bool basicBlock) {
  constexpr int64_t kLong = 1024;  // a basic row of this length takes two repeats
  const bool basic = IsFlashBasic(n, basicBlock);
  const int64_t perBlock = kSoftmaxBlockBytes / statisticWidth;
  const int64_t partial = int64_t{kFloatsOfARepeat} * (basic && n == kLong ? 2 : 1);
  return width == 2 ? perBlock * (basic ? 1 : 2) + n + partial : perBlock + partial;
}
// scratch: bytes. packed: statistics of one element a row, which fill blocks.
constexpr ::SoftMaxTiling SplitFlashV2(const SoftmaxRows& rows, uint32_t width,
                                       uint32_t statisticWidth, uint32_t scratch, bool basicBlock,
                                       bool packed) {
  const bool basic = IsFlashBasic(rows.columns, basicBlock) && rows.count % kFloatsOfABlock == 0;
  const auto row = static_cast<uint32_t>(FlashV2Row(width, statisticWidth, rows.columns, basic));
  uint32_t split = std::min(scratch / kFloatBytes / row, rows.count);
  if (basic) {
    split = EvenSoftmaxRows(rows, split);
  }
  const uint32_t unit =
      packed && width != kFloatBytes ? kSoftmaxBlockBytes / width : kFloatsOfABlock;
  if (split < rows.count && split > unit) {
    split -= split % unit;
  }
  return SplitSoftmaxRows(rows, split);
}

}  // namespace aclsim
