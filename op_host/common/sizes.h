// SPDX-License-Identifier: Apache-2.0
// This file has sizes of the hardware that host and device share, and arithmetic on sizes.
// HOST_AND_DEVICE marks a function for both.
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
constexpr uint32_t kTurnRows = 128;       // rows whose sums SpreadSums of legacy.h spreads at once
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

}  // namespace common

#endif  // OP_HOST_COMMON_SIZES_H_
