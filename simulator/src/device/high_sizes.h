// SPDX-License-Identifier: Apache-2.0
// Bytes of scratch that functions of the high-level API must have, in repeats of 256 bytes: what host tiling hands out and what
// the device checks. The numbers are those of CANN's public sources for architecture 2201.
#pragma once

#include <algorithm>
#include <cstdint>

#include "ascendc/high_abi.h"
#include "kernel_tiling/softmax_split.h"

namespace aclsim {

// As many temporaries of the size of the operand as the function keeps at a time; each has one repeat at least.
struct HighScratch {
  uint8_t half = 0;  // 16-bit types
  uint8_t single = 0;
  uint8_t singleReused = 0;  // when the source may be overwritten
};
inline constexpr uint32_t kScratchRepeat = 256;

struct HighScratchOf {
  High op;
  HighScratch scratch;
};
inline constexpr HighScratchOf kHighScratch[] = {
    {High::kLog2, {2, 0, 0}},       {High::kFloor, {2, 0, 0}},        {High::kCeil, {2, 1, 1}},
    {High::kTrunc, {2, 1, 1}},      {High::kRound, {1, 0, 0}},        {High::kFrac, {4, 0, 0}},
    {High::kAxpy, {4, 0, 0}},       {High::kGeGlu, {4, 0, 0}},        {High::kFmod, {8, 1, 1}},
    {High::kTanh, {4, 1, 1}},       {High::kSinh, {4, 1, 1}},         {High::kAtanh, {4, 1, 1}},
    {High::kSign, {3, 3, 3}},       {High::kAsinh, {3, 3, 3}},        {High::kGelu, {3, 3, 3}},
    {High::kFasterGelu, {3, 3, 3}}, {High::kFasterGeluV2, {3, 3, 3}}, {High::kSin, {8, 3, 2}},
    {High::kCos, {8, 3, 2}},        {High::kTan, {10, 4, 4}},         {High::kCosh, {6, 2, 2}},
    {High::kAsin, {6, 2, 2}},       {High::kAcos, {6, 2, 2}},         {High::kAtan, {12, 5, 5}},
    {High::kAcosh, {2, 1, 1}},      {High::kErf, {8, 3, 3}},          {High::kErfc, {16, 7, 7}},
    {High::kExp, {4, 3, 2}},        {High::kLgamma, {26, 8, 7}},      {High::kDigamma, {16, 7, 6}},
    {High::kXor, {1, 1, 1}},        {High::kSigmoid, {1, 1, 1}},      {High::kSwiGlu, {6, 0, 0}},
    {High::kReGlu, {6, 1, 1}}};

constexpr HighScratch ScratchOf(High op) {
  for (const HighScratchOf& row : kHighScratch) {
    if (row.op == op) return row.scratch;
  }
  return {};
}

// Log2's floats of half values have one repeat at least, though there are two temporaries of the operand's size.
constexpr uint32_t LeastRepeats(High op, uint32_t temporaries) {
  return op == High::kLog2 && temporaries > 0 ? 1 : temporaries;
}

// Power's scratch depends on which operands are tensors.
constexpr uint32_t PowerScratch(DType dtype, bool bothTensors) {
  if (dtype == DType::kInt32) {
    return (bothTensors ? 6 : 7) * kScratchRepeat;
  }
  return (dtype == DType::kHalf ? 8 : bothTensors ? 5 : 6) * kScratchRepeat;
}

constexpr int64_t ScratchRoundUp(int64_t value, int64_t unit) {
  return (value + unit - 1) / unit * unit;
}
inline constexpr int64_t kScratchBlock = 32;

// Elements of one byte are spread as 16 bits. rowsAtATime: as many rows of broken blocks as are spread before they are packed.
constexpr int64_t BroadcastScratch(int64_t width, int64_t srcSize, int64_t rows, int64_t columns,
                                   int64_t axis, int64_t rowsAtATime = 0) {
  const int64_t dstSize = rows * columns;
  int64_t cast = 0;
  if (width == 1) {
    width = 2;
    cast = (ScratchRoundUp(srcSize, 16) + ScratchRoundUp(dstSize, 16)) * width;
  } else if (srcSize == dstSize || srcSize == 1) {
    return 0;
  }
  if (srcSize == dstSize || srcSize == 1 || axis == 0) {
    return cast + kScratchBlock;
  }
  const int64_t perBlock = kScratchBlock / width;
  const int64_t spread = rowsAtATime == 0 ? perBlock : ScratchRoundUp(rowsAtATime, 8);
  const int64_t packed = rowsAtATime == 0 ? perBlock : rowsAtATime;
  const int64_t broken = columns % perBlock == 0 ? 0 : packed * ScratchRoundUp(columns, perBlock);
  return cast + (spread * perBlock + broken) * width;
}

// The largest power of two that is not above n, or half of n if n is one itself and may be halved.
constexpr int64_t HalvingStart(int64_t n, bool halve) {
  int64_t k = 1;
  while (2 * k <= n) {
    k *= 2;
  }
  return k == n && halve ? k / 2 : k;
}

// Scratch of rows of n elements. overRows: one result per column; wide: half, added in float.
constexpr int64_t ReduceScratch(HighReduction op, int64_t width, int64_t rows, int64_t n,
                                bool overRows, bool wide, bool reuseSource) {
  const int64_t perBlock = kScratchBlock / width;
  const int64_t perRepeat = kScratchRepeat / width;
  const auto repeats = [n](int64_t lanes) { return (n + lanes - 1) / lanes; };
  if (op == HighReduction::kRowSum) {
    return ScratchRoundUp(repeats(perRepeat) * width, kScratchBlock);
  }
  if (op == HighReduction::kRowMean) {
    return wide ? ScratchRoundUp(repeats(kScratchRepeat / 4), kScratchBlock) +
                      ScratchRoundUp(n, perBlock) * 4
                : ScratchRoundUp(repeats(perRepeat), kScratchBlock);
  }
  if (overRows) {
    const int64_t k = HalvingStart(rows, rows > 1);
    return reuseSource ? 0 : k * ScratchRoundUp(n * width, kScratchBlock);
  }
  switch (op) {
    case HighReduction::kAny:
    case HighReduction::kAll:
      // Bytes are widened to 16 bits, and every row leaves one block.
      if (width == 1) {
        return ScratchRoundUp(n, kScratchBlock) * 2 + rows * kScratchBlock;
      }
      [[fallthrough]];
    case HighReduction::kMax:
    case HighReduction::kMin:
      if (reuseSource || n <= perBlock) {
        return 0;
      }
      return rows * (n < perRepeat ? kScratchBlock : int64_t{kScratchRepeat});
    case HighReduction::kProd:
      if (reuseSource) {
        return kScratchRepeat;
      }
      return (std::max(perBlock, HalvingStart(n, rows > 1)) + rows * perBlock) * width +
             kScratchRepeat;
    default:
      return reuseSource || n <= perRepeat ? 0 : rows * HalvingStart(n, rows > 1) * width;
  }
}

// SoftmaxFlash, floats per row of n elements.
constexpr int64_t FlashRow(int64_t width, int64_t n, bool update) {
  const int64_t perBlock = kScratchBlock / width;
  return update ? 4 * perBlock + 2 * n : perBlock + n + kScratchRepeat / 4;
}
// Eight rows at a time of basic blocks; packed statistics fill a block.
constexpr int64_t FlashV2Scratch(int64_t width, int64_t statisticWidth, int64_t rows, int64_t n,
                                 bool basicBlock, bool packed) {
  const int64_t atATime =
      packed ? std::min(kScratchBlock / width, rows) : (IsFlashBasic(n, basicBlock) ? 8 : 1);
  return FlashV2Row(width, statisticWidth, n, basicBlock) * atATime * 4;
}

// Normalisation: rows of n elements, padded; a float for every row's mean and variance, and whole rows of temporaries.
constexpr int64_t LayerNormScratch(int64_t width, int64_t rows, int64_t n, bool reuseSource) {
  return (reuseSource && width == 4 ? 2 : 3) * ScratchRoundUp(n * 4, kScratchBlock) +
         2 * ScratchRoundUp(rows * 4, kScratchBlock);
}
constexpr int64_t NormalizeScratch(int64_t gammaWidth, int64_t rows, int64_t n) {
  return std::max(ScratchRoundUp(rows * 4, kScratchBlock),
                  (gammaWidth == 4 ? 2 : 4) * ScratchRoundUp(n * 4, kScratchBlock));
}
constexpr int64_t LayerNormRowsScratch(int64_t width, int64_t rows, int64_t n) {
  return std::max(2 * ScratchRoundUp(n * 4, kScratchBlock), NormalizeScratch(width, rows, n)) +
         ScratchRoundUp(rows * 4, kScratchBlock);
}
constexpr int64_t RmsNormScratch(int64_t width, int64_t n) {
  return (n * (width == 2 ? 2 : 1) + 8) * 4;
}
// n: of a group, its channels padded.
constexpr int64_t GroupNormScratch(int64_t width, int64_t rows, int64_t n, bool reuseSource) {
  return (reuseSource && width == 4 ? 2 : 3) * n * 4 + 2 * ScratchRoundUp(rows * 4, kScratchBlock);
}
// n: of a batch.
constexpr int64_t BatchNormScratch(int64_t width, int64_t batches, int64_t n,
                                   bool basicBlock = false) {
  return 3 * batches *
             (basicBlock   ? int64_t{kScratchRepeat}
              : width == 2 ? 64
                           : 32) +
         2 * ScratchRoundUp(n * 4, kScratchBlock);
}
constexpr int64_t WelfordUpdateScratch(int64_t width, bool reuseSource) {
  return (width == 2 ? 3 : reuseSource ? 1 : 2) * int64_t{kScratchRepeat};
}
inline constexpr int64_t kWelfordFinalizeScratch = 4 * int64_t{kScratchRepeat};

// Structures of a value and an index, twice while they are merged; indices that nobody gave.
constexpr int64_t TopKScratch(int64_t rows, int64_t columns, bool small, bool hasIndex,
                              bool largest) {
  if (!small) {
    return columns * (hasIndex ? 16 : 20);
  }
  constexpr int64_t kPatterns = 64;
  return rows * columns * (8 + (hasIndex ? 0 : 4) + (largest ? 0 : 4)) + kPatterns;
}

inline constexpr int64_t kQuantScratch = 2 * int64_t{kScratchRepeat};
// Floats of the rows and of their scales, and a repeat.
constexpr int64_t DequantScratch(int64_t rows, int64_t columns) {
  return (int64_t{kScratchRepeat} / 4 + rows * columns + columns + 8) * 4;
}

// To bf16 the scales and offsets are widened and spread; half needs nothing.
constexpr int64_t AntiQuantScratch(bool toHalf, bool scalar, bool transposed, int64_t k,
                                   int64_t scales) {
  if (toHalf) {
    return 0;
  }
  if (scalar || scales == 1) {
    return 4 * int64_t{kScratchRepeat};
  }
  return transposed ? 80 * scales * 4 : 2 * scales * 4 + 64 * k * 4;
}

// Along rows, the matrix is transposed there and back, rowsAtATime rows at a time; half is added in float.
constexpr int64_t CumSumScratch(int64_t width, int64_t rows, int64_t columns, bool alongRow,
                                int64_t rowsAtATime = 16) {
  if (alongRow) {
    const int64_t part = rowsAtATime * columns * width;
    return part * 2 + (width == 2 ? part : 0);
  }
  return width == 2 ? rows * columns * 4 : 0;
}

}  // namespace aclsim
