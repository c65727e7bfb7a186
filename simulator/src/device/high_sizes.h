// SPDX-License-Identifier: Apache-2.0
// Bytes of scratch that functions of the high-level API must have, in repeats of 256 bytes: what host tiling hands out and what
// the device checks. The numbers are those of CANN's public sources for architecture 2201.
#pragma once

#include <cstdint>

#include "ascendc/high_abi.h"

namespace aclsim {

// As many temporaries of the size of the operand as the function keeps at a time; each has one repeat at least.
struct HighScratch {
  uint8_t half = 0;  // 16-bit types
  uint8_t single = 0;
  uint8_t singleReused = 0;  // when the source may be overwritten
};
inline constexpr uint32_t kScratchRepeat = 256;

constexpr HighScratch ScratchOf(High op) {
  switch (op) {
    case High::kLog2:
    case High::kFloor:
      return {2, 0, 0};
    case High::kCeil:
    case High::kTrunc:
      return {2, 1, 1};
    case High::kRound:
      return {1, 0, 0};
    case High::kFrac:
    case High::kAxpy:
    case High::kGeGlu:
      return {4, 0, 0};
    case High::kFmod:
      return {8, 1, 1};
    case High::kTanh:
    case High::kSinh:
    case High::kAtanh:
      return {4, 1, 1};
    case High::kSign:
    case High::kAsinh:
    case High::kGelu:
    case High::kFasterGelu:
    case High::kFasterGeluV2:
      return {3, 3, 3};
    case High::kSin:
    case High::kCos:
      return {8, 3, 2};
    case High::kTan:
      return {10, 4, 4};
    case High::kCosh:
    case High::kAsin:
    case High::kAcos:
      return {6, 2, 2};
    case High::kAtan:
      return {12, 5, 5};
    case High::kAcosh:
      return {2, 1, 1};
    case High::kErf:
      return {8, 3, 3};
    case High::kErfc:
      return {16, 7, 7};
    case High::kExp:
      return {4, 3, 2};
    case High::kLgamma:
      return {26, 8, 7};
    case High::kDigamma:
      return {16, 7, 6};
    case High::kXor:
    case High::kSigmoid:
      return {1, 1, 1};
    case High::kSwiGlu:
    case High::kReGlu:
      return {6, 0, 0};
    default:
      return {};
  }
}

// Power's scratch depends on which operands are tensors.
constexpr uint32_t PowerScratch(DType dtype, bool bothTensors) {
  if (dtype == DType::kInt32) {
    return (bothTensors ? 6 : 7) * kScratchRepeat;
  }
  return (dtype == DType::kHalf ? 8 : bothTensors ? 5 : 6) * kScratchRepeat;
}

}  // namespace aclsim
