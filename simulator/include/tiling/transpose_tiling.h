// SPDX-License-Identifier: Apache-2.0
// Tiling of Transpose between NZ and ND layouts. The words are those of CANN's public sources for architecture 2201.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "aclsim/block_sizes.h"
#include "graph/tensor.h"
#include "kernel_tiling/kernel_tiling.h"
#include "register/tilingdata_base.h"
#include "tiling/high_level_sizes.h"

namespace optiling {

#define ACLSIM_HOST_FIELD_(type, name) TILING_DATA_FIELD_DEF(type, name);
BEGIN_TILING_DATA_DEF(ConfusionTransposeTiling)
ACLSIM_TRANSPOSE_TILING(ACLSIM_HOST_FIELD_)
END_TILING_DATA_DEF;
#undef ACLSIM_HOST_FIELD_

}  // namespace optiling

namespace AscendC {

namespace detail {

constexpr uint32_t kTransposeSide = 16;

inline uint32_t TransposeBlocks(uint32_t length) {
  return (length + kTransposeSide - 1) / kTransposeSide;
}

// Scenes 1 to 6 take [B, N, S, H/N], scene 7 takes [H, W]. The words of each scene are a row of a table, so it stays one function.
inline std::array<uint32_t, 18> TransposeWords(const std::vector<int64_t>& dims, uint32_t stack,
                                               uint32_t width, uint32_t scene) {
  std::array<uint32_t, 18> words{};
  if (width == 0 || dims.size() < (scene == 7 ? 2u : 4u)) {
    return words;
  }
  constexpr uint32_t kSide = kTransposeSide;
  const auto dim = [&](size_t i) { return static_cast<uint32_t>(dims[i]); };
  const uint32_t perBlock = 32 / width;
  if (scene == 7) {
    return {perBlock, dim(0), dim(1), dim(0) / kSide, dim(0), dim(1) / perBlock};
  }
  const uint32_t b = dim(0), n = dim(1), d = dim(3), h = n * d;
  const uint32_t sBlocks = TransposeBlocks(dim(2)), s = sBlocks * kSide;
  const uint32_t dBlocks = TransposeBlocks(d), wholeD = dBlocks * kSide;
  const uint32_t hBlocks = TransposeBlocks(h), wholeH = hBlocks * kSide;
  const uint32_t rows = kSide / perBlock;
  switch (scene) {
    case 1:
    case 2: {
      const uint32_t scratch = stack / width / (kSide * kSide) * kSide * kSide;
      const uint32_t need = s * kSide;
      const uint32_t rounds = scratch != 0 ? need / scratch : 0;
      return {perBlock,
              b,
              n,
              wholeD,
              s,
              dBlocks,
              scratch,
              scratch / kSide,
              need,
              rounds,
              scratch != 0 ? need % scratch : 0,
              s * wholeD,
              n * s * wholeD,
              n * wholeD,
              n * kSide,
              scratch / kSide * rounds * n * wholeD};
    }
    case 3:
      return {perBlock,  b, n,       d,      rows,       h,         hBlocks,     sBlocks,
              wholeH,    s, dBlocks, wholeD, wholeD - d, s * kSide, n * dBlocks, n * wholeD * s,
              wholeH * s};
    case 4:
      return {perBlock,
              b,
              n,
              d,
              h,
              hBlocks,
              sBlocks,
              dBlocks,
              wholeD,
              wholeD - d,
              s * kSide,
              n * dBlocks,
              s * wholeD,
              wholeD * kSide,
              wholeD * perBlock,
              n * wholeD * s,
              hBlocks * kSide * s,
              rows};
    case 5:
    case 6:
      return {perBlock,
              b,
              n,
              d,
              h,
              hBlocks,
              sBlocks,
              dBlocks,
              wholeH,
              s * kSide,
              wholeH * kSide,
              perBlock * wholeH,
              n * wholeD * s,
              wholeH * s,
              rows};
    default:
      return words;
  }
}

}  // namespace detail

inline void GetTransposeMaxMinTmpSize(const TensorShape& srcShape, const uint32_t typeSize,
                                      const uint32_t transposeTypeIn, uint32_t& maxValue,
                                      uint32_t& minValue) {
  constexpr uint32_t kTile = detail::kTransposeSide * detail::kTransposeSide;
  const bool turns = transposeTypeIn == 1 || transposeTypeIn == 2;
  const bool splits = transposeTypeIn >= 3 && transposeTypeIn <= 6;
  minValue = turns ? kTile * typeSize : splits ? 2 * kTile * typeSize : 0;
  maxValue = minValue;
  if (turns) {
    const auto rows = static_cast<uint32_t>(srcShape.GetDim(2));
    maxValue = detail::TransposeBlocks(rows) * kTile * typeSize;
  }
}

inline void GetTransposeTilingInfo(const TensorShape& srcShape, const uint32_t stackBufferSize,
                                   const uint32_t typeSize, const uint32_t transposeTypeIn,
                                   ::ConfusionTransposeTiling& tiling) {
  const auto words =
      detail::TransposeWords(srcShape.GetDims(), stackBufferSize, typeSize, transposeTypeIn);
  static_assert(sizeof(tiling) == sizeof(words));
  std::memcpy(static_cast<void*>(&tiling), words.data(), sizeof(tiling));
}

inline void GetTransposeTilingInfo(const TensorShape& srcShape, const uint32_t stackBufferSize,
                                   const uint32_t typeSize, const uint32_t transposeTypeIn,
                                   optiling::ConfusionTransposeTiling& tiling) {
  const auto words =
      detail::TransposeWords(srcShape.GetDims(), stackBufferSize, typeSize, transposeTypeIn);
  size_t word = 0;
#define ACLSIM_SET_(type, name) tiling.set_##name(words[word++]);
  ACLSIM_TRANSPOSE_TILING(ACLSIM_SET_)
#undef ACLSIM_SET_
}

// These are the same functions by their older names.
inline void GetConfusionTransposeMaxMinTmpSize(const TensorShape& srcShape, const uint32_t typeSize,
                                               const uint32_t transposeTypeIn, uint32_t& maxValue,
                                               uint32_t& minValue) {
  GetTransposeMaxMinTmpSize(srcShape, typeSize, transposeTypeIn, maxValue, minValue);
}
template <typename Tiling>
void GetConfusionTransposeTilingInfo(const TensorShape& srcShape, const uint32_t stackBufferSize,
                                     const uint32_t typeSize, const uint32_t transposeTypeIn,
                                     Tiling& tiling) {
  GetTransposeTilingInfo(srcShape, stackBufferSize, typeSize, transposeTypeIn, tiling);
}
template <typename Tiling>
void GetConfusionTransposeOnlyTilingInfo(const TensorShape& srcShape,
                                         const uint32_t stackBufferSize, const uint32_t typeSize,
                                         Tiling& tiling) {
  GetTransposeTilingInfo(srcShape, stackBufferSize, typeSize, 7, tiling);
}

}  // namespace AscendC
