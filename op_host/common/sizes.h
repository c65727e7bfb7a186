// SPDX-License-Identifier: Apache-2.0
// This file has sizes of the hardware that host and device share, arithmetic on sizes, and buffers of UB. HOST_AND_DEVICE
// marks a function for both.
#ifndef OP_HOST_COMMON_SIZES_H_
#define OP_HOST_COMMON_SIZES_H_

#include <cstdint>

#if defined(__CCE_AICORE__)
#include "kernel_operator.h"
#define HOST_AND_DEVICE __aicore__ inline constexpr
#else
#define HOST_AND_DEVICE inline constexpr
#endif

namespace common {

constexpr uint32_t kFloatBytes = 4;
constexpr uint32_t kBlockBytes = 32;
constexpr uint32_t kLineBytes = 512;      // GM moves in lines
constexpr uint32_t kBlockLanes = 8;       // fp32 lanes of a block
constexpr uint32_t kRepeatLanes = 64;     // fp32 lanes of a repeat
constexpr uint32_t kRepeatBlocks = 8;     // blocks of a repeat
constexpr uint32_t kMaxRepeat = 255;      // repeats of an instruction
constexpr uint32_t kStreams = 16;         // streams that TransDataTo5HD transposes at once
constexpr uint32_t kCacheLineLanes = 16;  // fp32 lanes of a line of the scalar unit's data cache
constexpr uint32_t kSpreadRows = 128;     // rows whose sums SpreadSums of legacy.h spreads at once
// A stream has at least kLeastLegacyStream elements there: Ascend910 transposes fp32 by 16 blocks
// of words.
constexpr uint32_t kLeastLegacyStream = 128;

template <typename A, typename B>
HOST_AND_DEVICE auto Min(A a, B b) {
  return a < b ? a : b;
}
template <typename A, typename B>
HOST_AND_DEVICE auto Max(A a, B b) {
  return a > b ? a : b;
}
template <typename A, typename B>
HOST_AND_DEVICE auto CeilDiv(A a, B b) {
  return (a + b - 1) / b;
}
template <typename A, typename B>
HOST_AND_DEVICE auto AlignUp(A a, B b) {
  return CeilDiv(a, b) * b;
}
template <typename A, typename B>
HOST_AND_DEVICE auto AlignDown(A a, B b) {
  return a / b * b;
}

// UbBuffer describes a buffer of UB. Each layout has a struct of them, from which the kernel makes its buffers and the tiling
// adds them up, so no budget is written twice. Sizes are bytes; TPipe rounds them up to whole blocks.
struct UbBuffer {
  uint32_t count = 0;  // 2: double buffering
  uint32_t bytes = 0;  // size of each; 0: there is none
};

// Sizes that the tiling tries may be far larger than UB: they count as 4 GB then.
HOST_AND_DEVICE UbBuffer Buffers(int64_t count, int64_t bytes) {
  return UbBuffer{static_cast<uint32_t>(count), static_cast<uint32_t>(Min(bytes, 0xFFFFFFFF))};
}
HOST_AND_DEVICE UbBuffer Buffer(int64_t bytes) { return Buffers(bytes > 0 ? 1 : 0, bytes); }

// TileUb has the buffers of a tile, for layouts that need no others.
struct TileUb {
  UbBuffer in;    // all operands
  UbBuffer out;   // the results
  UbBuffer work;  // fp32 lanes of 16-bit types

  template <typename Visit>
  void ForEach(const Visit& visit) const {
    visit("in", in);
    visit("out", out);
    visit("f32 work", work);
  }
};

}  // namespace common

#endif  // OP_HOST_COMMON_SIZES_H_
