// SPDX-License-Identifier: Apache-2.0
// What the templates of the high-level API pack: one call is one step of the simulator. Bodies are in src/device/high_*.cpp.
#pragma once

#include "ascendc/device_abi.h"

namespace aclsim {

// Functions of one element, or of the same element of two tensors.
enum class High : uint8_t {
  kLog,
  kLog2,
  kLog10,
  kExp,
  kPower,
  kFloor,
  kCeil,
  kRound,
  kTrunc,
  kFrac,
  kFmod,
  kSign,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kTanh,
  kAsinh,
  kAcosh,
  kAtanh,
  kErf,
  kErfc,
  kLgamma,
  kDigamma,
  kXor,
  kClampMax,
  kClampMin,
  kAxpy,
  kSigmoid,
  kGelu,
  kFasterGelu,
  kFasterGeluV2,
  kSilu,
  kSwish,
  kGeGlu,
  kSwiGlu,
  kReGlu,
  kCount
};

// The caller's sharedTmpBuffer, or none: then the function takes what InitBuffer has left of UB.
struct HighWork {
  Ub ub;
  uint32_t bytes = 0;
  bool given = false;
};

struct HighElements {
  Ub dst;
  Ub src[2];
  bool scalar[2] = {false, false};  // the source is `value`, the same for every element
  ScalarValue value = {0};          // of a scalar source, or the function's constant
  HighWork work;
  uint32_t count = 0;
  bool reuseSource = false;
};
ACLSIM_DEVICE_API void HighElement(High op, const HighElements& call);

}  // namespace aclsim
